/** LanePushes: what a producer sends to lanes, and how it takes the answers. */
import { type HoldfastError, IndeterminateError, QueueFullError } from "../errors.js";
import type { PushBatch, Pushes, PushItem } from "../queues/producer.js";
import type { LaneScripts } from "./lane-scripts.js";
import type { Ticket } from "./ticket.js";

export interface LaneItem extends PushItem {
  readonly lane: string;
}

export class LanePushes implements Pushes<LaneItem, Ticket> {
  readonly #scripts: LaneScripts;
  readonly #maxLength: number;

  constructor(scripts: LaneScripts, maxLength: number) {
    this.#scripts = scripts;
    this.#maxLength = maxLength;
  }

  async send(
    { seq, items, isWhole }: PushBatch<LaneItem>,
    timeoutMs: number,
  ): Promise<readonly (Ticket | HoldfastError)[]> {
    const { pushed } = await this.#scripts.push(seq, items, isWhole, timeoutMs);
    const full = pushed.findIndex(({ length }) => length !== null);
    return items.map(({ lane }, place) => {
      const number = pushed[place]?.number ?? null;
      if (number !== null) return { lane, number };
      // One that is refused because of another one names that one.
      const at = (pushed[place]?.length ?? null) === null ? full : place;
      const length = pushed[at]?.length ?? 0;
      return new QueueFullError(this.#scripts.name, length, this.#maxLength, items[at]?.lane ?? lane);
    });
  }

  unanswered(item: LaneItem | undefined, cause: HoldfastError): IndeterminateError {
    const lane = item === undefined ? "" : ` of lane '${item.lane}'`;
    return new IndeterminateError(
      `a push to '${this.#scripts.name}'${lane} had no answer: look at the lane with peek() before you push again, or make the work idempotent`,
      { cause },
    );
  }
}
