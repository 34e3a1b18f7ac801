/**
 * Blocks: what this process took from Redis ahead, and deals out by itself. All of it is charged before it is admitted,
 * so no number of processes exceeds the limit; what is not dealt out in time is lost, so less may be admitted.
 *
 * A charge that is dealt out later than it was taken may fall into a window with others. A bucket leaves twice the room
 * that regenerates meanwhile, and keeps its bound; a window's block ends with the window.
 */
import { agedMs, type Clock, type Instant } from "../time/clock.js";
import type { LimitResult } from "./result.js";
import type { Terms } from "./terms.js";

export interface Fetched {
  readonly result: LimitResult;
  /** Taken beyond what was asked for. */
  readonly extra: number;
}

interface Block<Ask> {
  readonly ask: Ask;
  left: number;
  readonly since: Instant;
  readonly forMs: number;
}

const LONGEST_MS = 1_000;
const SHARE_OF_PER = 0.1;
/** The server's clock may be quicker than ours by so much. */
const DRIFT_SHARE = 0.01;

export class Blocks<Ask extends { readonly terms: Terms; readonly key: string; readonly cost: number }> {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #blocks = new Map<string, Block<Ask>>();
  readonly #fetches = new Map<string, Promise<Fetched>>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** So much may be taken at once where some of it is dealt out later. */
  roomOf(terms: Terms): number {
    const { policy, room } = terms;
    if (policy.type !== "rolling" && policy.type !== "gcra") return room;
    const regenerates = (policy.max * dealMs(terms)) / (policy.perMs as number);
    return Math.max(0, room - Math.ceil(2 * regenerates));
  }

  async take(ask: Ask, fetch: () => Promise<Fetched>): Promise<LimitResult> {
    for (;;) {
      const dealt = this.#deal(ask);
      if (dealt) return dealt;
      const underWay = this.#fetches.get(ask.key);
      if (!underWay) break;
      const { result } = await underWay;
      if (!result.ok) return result;
    }
    const since = this.#clock.now();
    const fetching = fetch();
    this.#fetches.set(ask.key, fetching);
    try {
      const { result, extra } = await fetching;
      if (extra > 0) this.#keep(ask, extra, since, result);
      return result;
    } finally {
      this.#fetches.delete(ask.key);
    }
  }

  forget(key: string): void {
    this.#blocks.delete(key);
  }

  /** What is still left of all. */
  takeAll(): { readonly ask: Ask; readonly left: number }[] {
    const all = [...this.#blocks.values()].filter((block) => block.left > 0 && this.#isGood(block));
    this.#blocks.clear();
    return all.map(({ ask, left }) => ({ ask, left }));
  }

  #deal({ key, cost, terms }: Ask): LimitResult | null {
    const block = this.#blocks.get(key);
    if (!block || block.left < cost || !this.#isGood(block)) return null;
    block.left -= cost;
    const { policy } = terms;
    return {
      ok: true,
      remaining: block.left,
      retryAfterMs: 0,
      resetMs: policy.perMs,
      policy,
      source: "block",
    };
  }

  #isGood({ since, forMs }: Block<Ask>): boolean {
    return agedMs(this.#clock.now(), since) < forMs;
  }

  #keep(ask: Ask, left: number, since: Instant, { resetMs }: LimitResult): void {
    const { terms, key } = ask;
    const windowMs = (resetMs ?? Number.POSITIVE_INFINITY) * (1 - DRIFT_SHARE);
    const forMs = terms.policy.type === "window" ? windowMs : dealMs(terms);
    this.#blocks.delete(key);
    this.#blocks.set(key, { ask, left, since, forMs });
    if (this.#blocks.size <= this.#most) return;
    for (const oldest of this.#blocks.keys()) {
      this.#blocks.delete(oldest);
      break;
    }
  }
}

/** For so long a block of a bucket is dealt out. */
function dealMs({ policy }: Terms): number {
  return policy.perMs === null ? Number.POSITIVE_INFINITY : Math.min(LONGEST_MS, policy.perMs * SHARE_OF_PER);
}
