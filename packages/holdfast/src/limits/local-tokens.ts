/**
 * LocalTokens: blocks of tokens that this process took from Redis ahead, and deals out by itself. A token is charged before
 * it is dealt out, so no number of processes exceeds the limit. Tokens that are not dealt out in time are lost, so less may
 * be admitted.
 *
 * A window's block ends with its window. What a bucket deals out later than it was charged has regenerated meanwhile as
 * if it had been admitted already: as much as `holdMs` regenerates. So the script raises an emptier bucket to that much
 * before it charges a block (`hold` in charge.lua). Then the bucket that would be charged only when a caller is admitted
 * is never fuller than the one in Redis: let v be any moment, and the first block that is dealt out after v and was
 * charged before it be charged at s, at most `holdMs` before v. The one in Redis had at s at least what regenerates from
 * s to v, and has got since all that is admitted after v. It is never above its burst, so neither is the other, and the
 * bound of the type holds, whether or not other processes take blocks.
 */
import { BoundedMap } from "../bounded-map.js";
import { agedMs, type Clock, type Instant } from "../time/clock.js";
import type { Ahead, Ask } from "./charges.js";
import type { LimitResult } from "./result.js";
import { isSame, type LimitSettings } from "./settings.js";
import { types } from "./types.js";
import type { Verdict } from "./verdict.js";

/** What was taken and is not dealt out yet. */
export interface Left {
  readonly ask: Ask;
  readonly left: number;
  /** When it was charged, by the server's clock. */
  readonly atUs: number;
}

interface Block extends Left {
  left: number;
  readonly since: Instant;
  readonly forMs: number;
  readonly verdict: Verdict;
}

interface Fetch {
  /** Whether it brought more than was asked for. Never rejects. */
  readonly done: Promise<boolean>;
  /** The state it belongs to was set meanwhile. */
  isVoid: boolean;
}

const LONGEST_MS = 1_000;
const SHARE_OF_PER = 0.1;
/** The server's clock may be quicker than ours by so much. */
const DRIFT_SHARE = 0.01;

export class LocalTokens {
  readonly #clock: Clock;
  readonly #blocks: BoundedMap<string, Block>;
  readonly #fetches = new Map<string, Fetch>();
  /** What those want who wait for a fetch. */
  readonly #wanted = new Map<string, number>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#blocks = new BoundedMap(most);
  }

  /**
   * From what was taken before, or with a new block, charged as the verdict says; null: it is to be charged alone.
   * Rejects as `charge` does, where it was called, and as `wait`, by which it waits for what another has asked for.
   */
  async take(
    ask: Ask,
    charge: (ahead: Ahead) => Promise<Verdict>,
    wait: (done: Promise<boolean>) => Promise<boolean>,
  ): Promise<LimitResult | { readonly verdict: Verdict } | null> {
    for (;;) {
      const dealt = this.deal(ask);
      if (dealt) return dealt;
      const fetch = this.#fetches.get(ask.key);
      if (!fetch) return { verdict: await this.#fetch(ask, charge) };
      this.#want(ask.key, ask.cost);
      try {
        if (!(await wait(fetch.done))) return null;
      } finally {
        this.#want(ask.key, -ask.cost);
      }
    }
  }

  /** From what was taken before; null: it does not suffice. */
  deal({ key, cost, settings }: Ask): LimitResult | null {
    const block = this.#blocks.get(key);
    if (!block || block.left < cost || !isSame(block.ask.settings, settings)) return null;
    const agoMs = agedMs(this.#clock.now(), block.since);
    if (agoMs >= block.forMs) return null;
    block.left -= cost;
    const { remaining, resetUs } = block.verdict;
    return {
      ok: true,
      remaining: remaining + block.left,
      retryAfterMs: 0,
      resetMs: resetUs < 0 ? null : Math.max(1, Math.ceil(resetUs / 1_000 - agoMs)),
      policy: settings.policy,
      source: "block",
    };
  }

  forget(key: string): void {
    this.#blocks.delete(key);
    const fetch = this.#fetches.get(key);
    if (fetch) fetch.isVoid = true;
  }

  /** All that is left, to be given back. */
  takeAll(): readonly Left[] {
    return this.#blocks.drain().filter(({ left }) => left > 0);
  }

  #want(key: string, cost: number): void {
    const wanted = (this.#wanted.get(key) ?? 0) + cost;
    if (wanted > 0) this.#wanted.set(key, wanted);
    else this.#wanted.delete(key);
  }

  /** Takes what `ask` costs, and a block, and what the others want that wait. */
  async #fetch(ask: Ask, charge: (ahead: Ahead) => Promise<Verdict>): Promise<Verdict> {
    const { key, settings } = ask;
    const since = this.#clock.now();
    const extra = settings.block + (this.#wanted.get(key) ?? 0);
    const charging = charge({ extra, holdUs: holdUs(settings) });
    const done = charging.then(
      (verdict) => verdict.extra > 0,
      () => false,
    );
    const fetch: Fetch = { done, isVoid: false };
    this.#fetches.set(key, fetch);
    try {
      const verdict = await charging;
      if (verdict.extra > 0 && !fetch.isVoid) this.#keep(ask, since, verdict);
      return verdict;
    } finally {
      this.#fetches.delete(key);
    }
  }

  #keep(ask: Ask, since: Instant, verdict: Verdict): void {
    const { settings, key } = ask;
    const windowMs = (verdict.resetUs / 1_000) * (1 - DRIFT_SHARE);
    const forMs = types[settings.policy.type].frees === "together" ? windowMs : dealMs(settings);
    this.#blocks.set(key, { ask, left: verdict.extra, atUs: verdict.nowUs, since, forMs, verdict });
  }
}

/** For so long a block of a bucket is dealt out. */
function dealMs({ policy }: LimitSettings): number {
  return policy.perMs === null ? Number.POSITIVE_INFINITY : Math.min(LONGEST_MS, policy.perMs * SHARE_OF_PER);
}

/** As long by the server's clock, even if that is quicker. */
function holdUs(settings: LimitSettings): number {
  return types[settings.policy.type].frees === "evenly"
    ? Math.ceil(dealMs(settings) * 1_000 * (1 + DRIFT_SHARE))
    : 0;
}
