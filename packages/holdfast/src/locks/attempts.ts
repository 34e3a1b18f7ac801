/**
 * Attempts: those of callers that do not wait in line, and the adoptions. One attempt at a mutex is under way at a time, and those that
 * begin meanwhile share its fate.
 */
import type { Grant } from "../lease/hold.js";
import type { Lease } from "../lease/lease.js";
import type { Clock, Instant } from "../time/clock.js";
import type { Busy, StoreClaim } from "./backend.js";
import { errorOf } from "./caller-queue.js";

/** Makes one attempt with a claim: by itself, or together with the claims of other callers. */
export type Attempt = (claim: StoreClaim) => Promise<Grant | Busy>;

/** What an attempt together with others says where the store was not asked for this part. */
export const NOT_ASKED: Busy = { owner: null, ahead: null };
export const BY_ITSELF: Attempt = (claim) => claim.attempt();

/** The callers for which attempts are made. */
export interface AttemptHome {
  readonly settings: { readonly name: string };
  /** Not null: the store has granted a token that is not above an earlier one. Settles when that grant is released. */
  readonly regressed: Promise<unknown> | null;
  claim(minFence: bigint): StoreClaim;
  /** Makes a lease of a grant. Null: the name is not free, or the token is not above an earlier one. */
  attempted(claim: StoreClaim, outcome: Grant | Busy, since: Instant): Lease | null;
  tryEnter(minFence: bigint): Promise<Lease | null>;
  /** To be called when an attempt is over. */
  balance(): void;
}

export class Attempts {
  readonly #clock: Clock;
  readonly #home: AttemptHome;
  /** All that are under way. */
  readonly underWay = new Set<Promise<unknown>>();
  /** The one among them that others join. */
  joint: Promise<unknown> | null = null;
  /** Whether the last attempt asked the store. */
  #wasAsked = true;

  constructor(clock: Clock, home: AttemptHome) {
    this.#clock = clock;
    this.#home = home;
  }

  add(minFence: bigint, attempt: Attempt): Promise<Lease | null> {
    return this.#track(this.#once(minFence, attempt, attempt));
  }

  /** Adds an attempt that others join. By itself the second time: the claims of other callers are not asked for twice. */
  lead(minFence: bigint, attempt: Attempt): Promise<Lease | null> {
    return this.#lead(this.#once(minFence, attempt, BY_ITSELF));
  }

  /** The same, after a release. */
  leadAfter(released: Promise<unknown>, minFence: bigint): Promise<Lease | null> {
    return this.#lead(released.then(() => this.#once(minFence, BY_ITSELF, BY_ITSELF)));
  }

  /**
   * Shares the fate of the one under way: nothing is left, unless the store was not asked, as another name of it was taken. It does not
   * join a second one, which may be waiting for it at another name.
   */
  join(minFence: bigint): Promise<Lease | null> {
    const lease = (this.joint as Promise<unknown>).then(() =>
      this.#wasAsked || this.joint ? null : this.#home.tryEnter(minFence),
    );
    return this.#track(lease);
  }

  /** Resolves when all that are under way have ended. Their callers hear what came of them. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.underWay);
  }

  #lead(lease: Promise<Lease | null>): Promise<Lease | null> {
    const tracked = this.#track(lease);
    this.joint = tracked;
    return tracked;
  }

  #track(lease: Promise<Lease | null>): Promise<Lease | null> {
    const tracked = lease.finally(() => {
      this.underWay.delete(tracked);
      if (this.joint === tracked) this.joint = null;
      this.#home.balance();
    });
    this.underWay.add(tracked);
    return tracked;
  }

  /** @param again makes the attempt that follows a token that is not above an earlier one */
  async #once(minFence: bigint, attempt: Attempt, again: Attempt): Promise<Lease | null> {
    const since = this.#clock.now();
    let claim: StoreClaim | null = null;
    let outcome: Grant | Busy;
    try {
      claim = this.#home.claim(minFence);
      outcome = await attempt(claim);
    } catch (error) {
      claim?.abandon();
      throw errorOf(this.#home.settings.name, error);
    }
    this.#wasAsked = outcome !== NOT_ASKED;
    const lease = this.#home.attempted(claim, outcome, since);
    if (lease || !("token" in outcome)) return lease;
    await this.#home.regressed;
    return this.#once(minFence, again, again);
  }
}
