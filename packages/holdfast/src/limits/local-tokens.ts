/**
 * LocalTokens: blocks of tokens that this process took from Redis ahead, and deals out by itself. A token is charged before
 * it is dealt out, so no number of processes exceeds the limit. Tokens that are not dealt out in time are lost, so less may
 * be admitted.
 *
 * A window's block ends with its window. A bucket's block regenerates from the moment it was charged, although it is dealt
 * out up to `holdMs` later. So before the script charges a block, it raises an emptier bucket to the level that
 * regenerates within `holdMs` (`hold` in charge.lua). Then the bucket that would be charged only when a caller is admitted
 * is never fuller than the one in Redis. The proof: let v be any moment, and s the moment at which the first block was
 * charged that was charged before v and is dealt out after v. s is at most `holdMs` before v. The bucket in Redis had at s
 * at least the level that regenerates from s to v, and has been charged since with all that is admitted after v. It is
 * never above its burst, so neither is the other, and the bound of the type holds, whether or not other processes take
 * blocks.
 */
import { BoundedMap } from "../bounded-map.js";
import { agedMs, type Clock, type Instant } from "../time/clock.js";
import type { Ahead, Charge } from "./charges.js";
import type { LimitResult } from "./result.js";
import { isSame, type LimitSettings } from "./settings.js";
import { types } from "./types.js";
import type { Verdict } from "./verdict.js";

/** Tokens that were taken and are not dealt out yet. */
export interface Left {
  readonly charge: Charge;
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
  /** Whether it brought tokens beyond its own charge. Never rejects. */
  readonly done: Promise<boolean>;
  /** The amount used was set or reset meanwhile, so the tokens must not be dealt out. */
  isVoid: boolean;
}

const LONGEST_MS = 1_000;
const SHARE_OF_PER = 0.1;
/** How much faster the server's clock may run than ours. */
const DRIFT_SHARE = 0.01;

export class LocalTokens {
  readonly #clock: Clock;
  readonly #blocks: BoundedMap<string, Block>;
  readonly #fetches = new Map<string, Fetch>();
  /** The sum of the costs of the calls that wait for a fetch, by key. */
  readonly #wanted = new Map<string, number>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#blocks = new BoundedMap(most);
  }

  /**
   * Deals the charge out of the tokens at hand, or sends it with a new block, as the verdict says. Null: it has to be
   * charged alone.
   * @param send sends the charge and takes tokens ahead; `take` rejects as it does
   * @param wait waits for the fetch of another call; `take` rejects as it does
   */
  async take(
    charge: Charge,
    send: (ahead: Ahead) => Promise<Verdict>,
    wait: (done: Promise<boolean>) => Promise<boolean>,
  ): Promise<LimitResult | { readonly verdict: Verdict } | null> {
    for (;;) {
      const dealt = this.deal(charge);
      if (dealt) return dealt;
      const fetch = this.#fetches.get(charge.key);
      if (!fetch) return { verdict: await this.#fetch(charge, send) };
      this.#want(charge.key, charge.cost);
      try {
        if (!(await wait(fetch.done))) return null;
      } finally {
        this.#want(charge.key, -charge.cost);
      }
    }
  }

  /** Deals the charge out of the tokens at hand. Null: they do not suffice. */
  deal({ key, cost, settings }: Charge): LimitResult | null {
    const block = this.#blocks.get(key);
    if (!block || block.left < cost || !isSame(block.charge.settings, settings)) return null;
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

  /** Empties the cache. Returns the tokens that are left, to be refunded. */
  takeAll(): readonly Left[] {
    return this.#blocks.drain().filter(({ left }) => left > 0);
  }

  #want(key: string, cost: number): void {
    const wanted = (this.#wanted.get(key) ?? 0) + cost;
    if (wanted > 0) this.#wanted.set(key, wanted);
    else this.#wanted.delete(key);
  }

  /** Takes the charge, a block, and the costs of the calls that wait for this fetch. */
  async #fetch(charge: Charge, send: (ahead: Ahead) => Promise<Verdict>): Promise<Verdict> {
    const { key, settings } = charge;
    const since = this.#clock.now();
    const extra = settings.block + (this.#wanted.get(key) ?? 0);
    const charging = send({ extra, holdUs: holdUs(settings) });
    const done = charging.then(
      (verdict) => verdict.extra > 0,
      () => false,
    );
    const fetch: Fetch = { done, isVoid: false };
    this.#fetches.set(key, fetch);
    try {
      const verdict = await charging;
      if (verdict.extra > 0 && !fetch.isVoid) this.#keep(charge, since, verdict);
      return verdict;
    } finally {
      this.#fetches.delete(key);
    }
  }

  #keep(charge: Charge, since: Instant, verdict: Verdict): void {
    const { settings, key } = charge;
    const windowMs = (verdict.resetUs / 1_000) * (1 - DRIFT_SHARE);
    const forMs = types[settings.policy.type].frees === "together" ? windowMs : dealMs(settings);
    this.#blocks.set(key, { charge, left: verdict.extra, atUs: verdict.nowUs, since, forMs, verdict });
  }
}

/** How long a block of a bucket is dealt out. */
function dealMs({ policy }: LimitSettings): number {
  return policy.perMs === null ? Number.POSITIVE_INFINITY : Math.min(LONGEST_MS, policy.perMs * SHARE_OF_PER);
}

/** The same time by the server's clock, even if that runs faster. */
function holdUs(settings: LimitSettings): number {
  return types[settings.policy.type].frees === "evenly"
    ? Math.ceil(dealMs(settings) * 1_000 * (1 + DRIFT_SHARE))
    : 0;
}
