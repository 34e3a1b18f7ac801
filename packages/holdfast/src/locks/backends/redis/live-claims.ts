/**
 * LiveClaims: the claims of a process that are not over, by id, so that a message that names one finds it. A process that
 * holds something for longer than a moment opens its inbox, to hear at once of a lease that is taken away by hand.
 */
import type { Inbox } from "../../../redis/inbox.js";
import type { Alarm, Schedule } from "../../../time/schedule.js";

export interface LiveClaim {
  /** Whether it was granted. */
  readonly isHeld: boolean;
  /** To be called when the lock was released by force. */
  revoke(): void;
}

/** How often a process that holds something sees to it that its inbox is open. */
const PULSE_MS = 1_000;

export class LiveClaims {
  readonly #schedule: Schedule;
  readonly #inbox: Inbox;
  readonly #byId = new Map<string, LiveClaim>();
  #held = 0;
  #pulse: Alarm | null = null;
  readonly #listen = (): void => {
    this.#pulse = this.#schedule.after(PULSE_MS, this.#listen);
    this.#inbox.open();
  };

  constructor(schedule: Schedule, inbox: Inbox) {
    this.#schedule = schedule;
    this.#inbox = inbox;
  }

  add(id: string, claim: LiveClaim): void {
    this.#byId.set(id, claim);
  }

  get(id: string): LiveClaim | undefined {
    return this.#byId.get(id);
  }

  /** A claim was granted. */
  hold(): void {
    this.#held += 1;
    this.#pulse ??= this.#schedule.after(PULSE_MS, this.#listen);
  }

  /** A claim is over. */
  delete(id: string): void {
    const claim = this.#byId.get(id);
    if (!claim) return;
    this.#byId.delete(id);
    if (!claim.isHeld) return;
    this.#held -= 1;
    if (this.#held > 0) return;
    this.#schedule.cancel(this.#pulse);
    this.#pulse = null;
  }
}
