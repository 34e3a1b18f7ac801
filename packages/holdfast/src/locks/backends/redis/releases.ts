/**
 * Releases: the releases of leases that are under way. One call releases all leases of one turn of the event loop for which
 * nobody waits. A single lease, or one for which somebody may wait, is released by a call of its own, which hands it over. A
 * call without a reply is retried within the same time-out.
 */
import { type HoldfastError, IndeterminateError, isPassing, UnavailableError } from "../../../errors.js";
import type { AnswerListener } from "../../../redis/reply.js";
import { publish } from "../../../telemetry/events.js";
import { Batcher } from "../../../time/batcher.js";
import { elapsedMs, type Instant } from "../../../time/clock.js";
import { jittered, type Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Freed } from "../../backend.js";
import type { ClaimScripts } from "./claim-scripts.js";
import type { Cleanup } from "./cleanup.js";
import type { ReleaseOutcome, SentClaim } from "./lock-scripts.js";

/** As many as are acquired in one call. */
const CHUNK = 16;
const RETRY_MS = 20;

export interface Released {
  readonly sent: SentClaim;
  readonly since: Instant;
  /** ms that are left of the lease, by the clock of its holder. */
  readonly leaseLeftMs: number;
  readonly told: (freed: Freed) => void;
  /** Called, in place of the event, when the lock went to a waiter. */
  readonly onHandedOver: (() => void) | null;
}

interface ReleasesParts {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly scripts: ClaimScripts;
  readonly cleanup: Cleanup;
}

export class Releases {
  readonly #parts: ReleasesParts;
  readonly #batch: Batcher<Release>;
  #underWay = 0;
  #onSettled: () => void = () => {};
  readonly #told = (): void => {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#onSettled();
  };

  constructor(parts: ReleasesParts) {
    const { scripts } = parts;
    this.#parts = parts;
    this.#batch = new Batcher(
      CHUNK,
      (releases) => this.#send(releases),
      (releases) => scripts.groupBySlot(releases),
    );
  }

  add(released: Released): void {
    this.#underWay += 1;
    this.#batch.add(new Release(this.#parts, released, this.#told));
  }

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve;
    });
  }

  #send(releases: readonly Release[]): void {
    if (releases.length === 1) {
      releases[0]?.send();
      return;
    }
    const { scripts } = this.#parts;
    const together = releases.filter(({ sent }) => scripts.banMs(sent) === 0);
    for (const release of releases) if (!together.includes(release)) release.send();
    if (together.length > 0) void this.#sendMany(together);
  }

  async #sendMany(releases: readonly Release[]): Promise<void> {
    let released: readonly boolean[] = [];
    let isUnknown = false;
    try {
      released = await this.#parts.scripts.releaseMany(releases.map(({ sent }) => sent));
    } catch (error) {
      isUnknown = error instanceof IndeterminateError;
    }
    for (const [place, release] of releases.entries()) {
      if (released[place]) release.answered("released");
      else release.sendAgain(isUnknown);
    }
  }
}

class Release implements AnswerListener<ReleaseOutcome> {
  readonly sent: SentClaim;
  readonly #parts: ReleasesParts;
  readonly #released: Released;
  readonly #onTold: () => void;
  /** How often the connection had broken before. */
  readonly #disruptions: number;
  /** Whether an earlier call, of which nothing was heard, may have ended the lease. */
  #isRepeated = false;

  constructor(parts: ReleasesParts, released: Released, onTold: () => void) {
    this.sent = released.sent;
    this.#parts = parts;
    this.#released = released;
    this.#onTold = onTold;
    this.#disruptions = parts.scripts.disruptions;
  }

  send(): void {
    const { scripts } = this.#parts;
    scripts.release(this.sent, scripts.callTimeoutMs, this);
  }

  /** @param isRepeated whether an earlier call, of which nothing was heard, may have ended the lease */
  sendAgain(isRepeated: boolean): void {
    this.#isRepeated ||= isRepeated;
    this.#parts.scripts.release(this.sent, Math.max(this.#leftMs, RETRY_MS), this);
  }

  answered(outcome: ReleaseOutcome): void {
    const { onHandedOver } = this.#released;
    if (outcome === "handed-over") {
      if (onHandedOver) onHandedOver();
      else publish("holdfast:lock:handed-over", () => ({ lock: this.sent.claim.name }));
    }
    const isReleased = outcome === "released" || outcome === "handed-over";
    this.#tell(isReleased || this.#endedBefore ? "released" : "absent");
  }

  failed(error: HoldfastError): void {
    const { schedule, random, cleanup } = this.#parts;
    const isUnknown = error instanceof IndeterminateError;
    if ((isUnknown || error instanceof UnavailableError) && isPassing(error) && this.#leftMs > RETRY_MS) {
      schedule.after(jittered(random, RETRY_MS, 0.5), () => this.sendAgain(isUnknown));
      return;
    }
    cleanup.add(this.sent);
    this.#tell("unknown");
  }

  #tell(freed: Freed): void {
    this.#onTold();
    this.#released.told(freed);
  }

  get #leftMs(): number {
    const { schedule, scripts } = this.#parts;
    return scripts.callTimeoutMs - elapsedMs(schedule.clock, this.#released.since);
  }

  /** Gone although its time was not up: if the call may have run twice, the first run ended it. */
  get #endedBefore(): boolean {
    const { schedule, scripts } = this.#parts;
    const ranTwice = this.#isRepeated || scripts.disruptions !== this.#disruptions;
    return ranTwice && elapsedMs(schedule.clock, this.#released.since) < this.#released.leaseLeftMs;
  }
}
