/**
 * Hearing: who of this process listens to which signals. A caller has begun to wait when the server has confirmed the subscription
 * and knows its seat. It is in that order: a signal that is handed to a process has somebody there.
 */
import { ClosedError, type HoldfastError, IndeterminateError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { type CallerContext, publish } from "../telemetry/events.js";
import { type Copies, Ears, type Topic } from "./ears.js";
import { Emissions } from "./emissions.js";
import { SeatScripts } from "./seat-scripts.js";
import { type Hearer, type Place, Seats } from "./seats.js";

export interface TopicHearer extends Hearer {
  /** By `emit`. */
  heard(copies: Copies): void;
}

/** A wait, or a reader: whatever ends with `hf.close()`. */
export interface Open {
  withdraw(): Promise<void>;
  end(error: HoldfastError): void;
}

export type HearingContext = Pick<
  RedisContext,
  | "port"
  | "prefix"
  | "callTimeoutMs"
  | "random"
  | "inbox"
  | "owner"
  | "schedule"
  | "watcher"
  | "replica"
  | "place"
>;

export class Hearing {
  readonly context: HearingContext;
  readonly #scripts: SeatScripts;
  readonly #ears: Ears;
  readonly #seats: Seats;
  readonly #emissions: Emissions;
  readonly #open = new Set<Open>();
  #closed = false;

  constructor(context: HearingContext) {
    this.context = context;
    this.#scripts = new SeatScripts(context);
    this.#ears = new Ears(context);
    this.#seats = new Seats(context, this.#scripts);
    this.#emissions = new Emissions(context, this.#scripts);
    context.port.onClosed?.((error) => this.#endAll(error));
  }

  /** Returns how many heard it. @param data as `encodeValue` made it; empty: none */
  emit(name: string, data: string): Promise<number> {
    this.assertOpen();
    return this.#scripts.emit(name, data);
  }

  /** Returns whether a waiter has it. */
  emitOne(name: string, data: string): Promise<boolean> {
    this.assertOpen();
    return this.#emissions.emitOne(name, data);
  }

  join(topic: Topic, hearer: TopicHearer): Place {
    let place: Place | null = null;
    let hasLeft = false;
    let isJoining = true;
    // What comes by the channel would be heard late until the place is known.
    const id = this.context.place.id();
    const known = typeof id === "string" ? null : id.catch(() => null);
    const seatedIfThere = (): void => {
      if (!hasLeft) hearer.seated();
    };
    const seated = (): void => {
      if (known) void known.then(seatedIfThere);
      else hearer.seated();
    };
    const seat: Hearer = {
      kind: hearer.kind,
      get hasRoom() {
        return hearer.hasRoom;
      },
      take: (copies) => hearer.take(copies),
      seated,
      answered: () => hearer.answered(),
      troubled: (error) => {
        hearer.troubled(error);
        // The primary does not answer, and the replica tells whatever is emitted there.
        if (!hasLeft && this.context.replica && this.#ears.isUp(topic)) seated();
      },
    };
    const close = this.#ears.open(topic, {
      up: () => {
        if (!isJoining) hearer.answered();
        if (hasLeft || place) return;
        if (topic.kind === "name") place = this.#seats.sit(topic.text, seat);
        else seated();
      },
      heard: (copies) => hearer.heard(copies),
      refused: (error) => hearer.troubled(error),
    });
    isJoining = false;
    return {
      withdraw: async () => (place ? place.withdraw() : this.#ask(topic, hearer)),
      changed: () => place?.changed(),
      leave: () => {
        hasLeft = true;
        close();
        place?.leave();
      },
    };
  }

  /** A caller without a seat learns whether the server is there. */
  async #ask({ kind }: Topic, hearer: Hearer): Promise<void> {
    if (kind === "name") return;
    const { port, callTimeoutMs } = this.context;
    await port.command(["PING"], callTimeoutMs).then(
      () => hearer.answered(),
      (error: HoldfastError) => hearer.troubled(error),
    );
  }

  /** Registers what has to end with `close()`. Returns a function that removes it. @throws {ClosedError} */
  register(open: Open): () => void {
    this.assertOpen();
    this.#open.add(open);
    return () => void this.#open.delete(open);
  }

  /** The error of a wait that the server has not confirmed in time: it never began. */
  notConfirmed({ text }: Topic, waitMs: number): HoldfastError {
    const what = `the server did not confirm the subscription to '${text}' within ${waitMs} ms`;
    return this.context.port.unavailable() ?? new IndeterminateError(what);
  }

  assertOpen(): void {
    if (this.#closed) throw new ClosedError("a signal was used after hf.close()");
  }

  /** Ends every wait and every reader. What was handed to them just then they get. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await Promise.all([...this.#open].map((open) => open.withdraw()));
    this.#endAll(() => new ClosedError("hf.close() came before the wait was over"));
    await this.#seats.settle();
    this.#emissions.close();
    this.#seats.close();
    this.#ears.close();
  }

  #endAll(error: () => HoldfastError): void {
    for (const open of [...this.#open]) open.end(error());
  }
}

/** Says that a wait has begun. */
export function tellWaiting(topics: readonly Topic[], context: CallerContext): void {
  publish("holdfast:signal:waiting", () => ({ signals: topics.map(({ text }) => text) }), context);
}
