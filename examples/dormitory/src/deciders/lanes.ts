/**
 * The second way to decide: one lane for each batch. Requests of a batch are worked off in order, those of different batches in parallel.
 * No lock is needed inside: the lane delivers one request at a time, and the script refuses a worker whose delivery was given to another.
 */
import type { Consumer, Holdfast, LaneDelivery, Lanes } from "holdfast";
import type { Outcome, SelectionRequest } from "../domain/selection.js";
import { fenceEntry } from "../state/fences.js";
import { SELECTION_LANES } from "../state/names.js";
import { type Judge, strayOutcome } from "./judge.js";
import type { LockDecider } from "./locks.js";

/** The name of the fence: of all locks of a batch, the lane needs this one. */
const LANE = "lane";
const MOST_TRIES = 30;
/** A worker that is not heard of for this long loses its requests; one that dies loses them within seconds. */
const DEADLINE = "10s";
const BACKOFF_MS = 300;
/** A request is given up never: it fails only while Redis is away. */
const MOST_ATTEMPTS = 1_000_000;

export type SelectionLanes = Lanes<SelectionRequest, Outcome>;

export function selectionLanes(hf: Holdfast): SelectionLanes {
  return hf.lanes<SelectionRequest, Outcome>(SELECTION_LANES, {
    whenFailed: "park",
    deadline: DEADLINE,
    maxAttempts: MOST_ATTEMPTS,
  });
}

export class LaneDecider {
  readonly #lanes: SelectionLanes;
  readonly #judge: Judge;
  readonly #locks: LockDecider;

  constructor(hf: Holdfast, judge: Judge, locks: LockDecider) {
    this.#lanes = selectionLanes(hf);
    this.#judge = judge;
    this.#locks = locks;
  }

  /** Works off the lanes until the consumer is stopped. @param concurrency batches at a time */
  start(concurrency: number): Consumer {
    return this.#lanes.consume((delivery) => this.#decide(delivery), { concurrency, backoff: BACKOFF_MS });
  }

  /** The result is durable in Redis before the delivery is acknowledged with it. A delivery that is repeated finds it there. */
  async #decide({
    body: request,
    token,
    id,
    signal,
  }: LaneDelivery<SelectionRequest, Outcome>): Promise<Outcome> {
    const fence = fenceEntry(LANE, { fence: token, id });
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      signal.throwIfAborted();
      const found = await this.#judge.read(request);
      if (found === null) return strayOutcome(request, "not-in-batch");
      if (found.look.outcome?.requestId === request.id) return found.look.outcome;
      // An administrator changed the way while the request waited.
      if (found.look.batch.way === "locks") return this.#locks.decide(request);
      const written = await this.#judge.write(found, [fence]);
      if (typeof written !== "string") return written;
      if (written === "stale") throw new Error("another worker has this request by now");
    }
    return strayOutcome(request, "changing");
  }
}
