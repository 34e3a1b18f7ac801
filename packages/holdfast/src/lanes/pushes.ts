/** LanePushes: what a producer sends to lanes, and how it takes the answers. */

import type { PushBatch, Pushes, PushItem } from "../deliveries/producer.js";
import { tooLarge } from "../deliveries/settings.js";
import { type HoldfastError, IndeterminateError, QueueFullError } from "../errors.js";
import { foreign } from "../redis/foreign.js";
import type { LaneScripts } from "./lane-scripts.js";
import type { Ticket } from "./ticket.js";

export interface LaneItem extends PushItem {
  readonly lane: string;
}

export class LanePushes implements Pushes<LaneItem, Ticket> {
  readonly #scripts: LaneScripts;

  constructor(scripts: LaneScripts) {
    this.#scripts = scripts;
  }

  async send(
    { seq, items, isWhole }: PushBatch<LaneItem>,
    timeoutMs: number,
  ): Promise<readonly (Ticket | HoldfastError)[]> {
    const { pushed, maxLength, maxBytes } = await this.#scripts.push(seq, items, isWhole, timeoutMs);
    const refused = pushed.findIndex(({ length, isTooLarge }) => length !== null || isTooLarge);
    return items.map(({ lane }, place) => {
      const number = pushed[place]?.number ?? null;
      if (number !== null) return { lane, number };
      if (pushed[place]?.isForeign)
        return foreign(this.#scripts.calls.key(`lane:${encodeURIComponent(lane)}`));
      // One that is refused because of another one names that one.
      const isItself = (pushed[place]?.length ?? null) !== null || pushed[place]?.isTooLarge;
      const at = isItself ? place : refused;
      const item = items[at];
      if (pushed[at]?.isTooLarge)
        return tooLarge(
          isWhole ? `messages[${at}].body` : "body",
          Buffer.byteLength(item?.body ?? ""),
          maxBytes,
        );
      return new QueueFullError(this.#scripts.name, pushed[at]?.length ?? 0, maxLength, item?.lane ?? lane);
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
