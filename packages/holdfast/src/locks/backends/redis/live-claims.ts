/**
 * LiveClaims: the claims of a process that are not over, so that a message that names one finds it. A process that
 * holds something for longer than a moment opens its inbox, to hear at once of a lease that is taken away by hand.
 */
import { type Linked, LinkedList } from "../../../linked-list.js";
import type { RedisContext } from "../../../redis/context.js";
import type { Inbox } from "../../../redis/inbox.js";
import type { Alarm, Schedule } from "../../../time/schedule.js";
import type { Claim } from "../../backend.js";

export interface LiveClaim extends Linked<LiveClaim> {
  readonly claim: Pick<Claim, "id">;
  /** Whether it was granted. */
  readonly isHeld: boolean;
  /** To be called when the lock was released by force. */
  revoke(): void;
}

type LiveClaimsParts = Pick<RedisContext, "schedule" | "listenAfterMs"> & {
  readonly inbox: Pick<Inbox, "open">;
};

/** How often a process that holds something sees to it that its inbox is open. */
const PULSE_MS = 1_000;

export class LiveClaims {
  readonly #schedule: Schedule;
  readonly #inbox: Pick<Inbox, "open">;
  readonly #listenAfterMs: number;
  readonly #claims = new LinkedList<LiveClaim>();
  #held = 0;
  #pulse: Alarm | null = null;
  readonly #listen = (): void => {
    this.#pulse = this.#schedule.after(PULSE_MS, this.#listen);
    this.#inbox.open();
  };

  constructor({ schedule, inbox, listenAfterMs }: LiveClaimsParts) {
    this.#schedule = schedule;
    this.#inbox = inbox;
    this.#listenAfterMs = listenAfterMs;
  }

  add(claim: LiveClaim): void {
    this.#claims.add(claim);
  }

  /** Walks over all of them: such a message is rare, and a claim is made for every lock. */
  find(id: string): LiveClaim | null {
    let live = this.#claims.first;
    while (live && live.claim.id !== id) live = live.next;
    return live;
  }

  /** A claim was granted. @param sinceMs on the monotonic clock */
  hold(sinceMs: number): void {
    this.#held += 1;
    this.#pulse ??= this.#schedule.at(sinceMs + this.#listenAfterMs, this.#listen);
  }

  /** A claim is over. */
  delete(claim: LiveClaim): void {
    if (!this.#claims.delete(claim) || !claim.isHeld) return;
    this.#held -= 1;
    if (this.#held > 0) return;
    this.#schedule.cancel(this.#pulse);
    this.#pulse = null;
  }
}
