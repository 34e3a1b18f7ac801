/**
 * Releases: the releases of leases that are under way. One call releases all leases of one turn of the event loop for which
 * nobody waits. A single lease, or one for which somebody may wait, is released by a call of its own, which hands it over. A
 * call without a reply is retried within the same time-out.
 */
import { IndeterminateError, isPassing, UnavailableError } from "../../../errors.js";
import { publish } from "../../../telemetry/events.js";
import { Batcher } from "../../../time/batcher.js";
import { elapsedMs, type Instant } from "../../../time/clock.js";
import { jittered, type Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Freed } from "../../backend.js";
import type { ClaimScripts } from "./claim-scripts.js";
import type { Cleanup } from "./cleanup.js";
import type { SentClaim } from "./lock-scripts.js";

interface Release {
  readonly sent: SentClaim;
  readonly since: Instant;
  readonly leaseLeftMs: number;
  /** How often the connection had broken before. */
  readonly disruptions: number;
  readonly onHandedOver: (() => void) | null;
  readonly resolve: (freed: Freed) => void;
  readonly reject: (error: unknown) => void;
}

/** As many as are acquired in one call. */
const CHUNK = 16;
const RETRY_MS = 20;

export class Releases {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #scripts: ClaimScripts;
  readonly #cleanup: Cleanup;
  readonly #batch = new Batcher<Release>(
    CHUNK,
    (releases) => this.#send(releases),
    (releases) => this.#scripts.groupBySlot(releases),
  );
  #underWay = 0;
  #onSettled: () => void = () => {};

  constructor(schedule: Schedule, random: Random, scripts: ClaimScripts, cleanup: Cleanup) {
    this.#schedule = schedule;
    this.#random = random;
    this.#scripts = scripts;
    this.#cleanup = cleanup;
  }

  /**
   * Rejects when the outcome is unknown. The release is then retried in the background.
   * @param onHandedOver called, in place of the event, when the lock went to a waiter
   */
  add(sent: SentClaim, leaseLeftMs: number, onHandedOver: (() => void) | null = null): Promise<Freed> {
    return new Promise((resolve, reject) => {
      const since = this.#schedule.clock.now();
      this.#underWay += 1;
      const { disruptions } = this.#scripts;
      this.#batch.add({ sent, since, leaseLeftMs, disruptions, onHandedOver, resolve, reject });
    });
  }

  /** Resolves when none is under way. */
  async settled(): Promise<void> {
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => {
      this.#onSettled = resolve;
    });
  }

  #send(releases: readonly Release[]): void {
    const many = releases.length > 1;
    const together = many ? releases.filter(({ sent }) => this.#scripts.banMs(sent) === 0) : [];
    for (const release of releases) if (!together.includes(release)) void this.#release(release, false);
    if (together.length > 0) void this.#releaseMany(together);
  }

  async #releaseMany(releases: readonly Release[]): Promise<void> {
    let released: readonly boolean[] = [];
    let repeated = false;
    try {
      released = await this.#scripts.releaseMany(releases.map(({ sent }) => sent));
    } catch (error) {
      repeated = error instanceof IndeterminateError;
    }
    for (const [place, release] of releases.entries()) {
      if (released[place]) this.#settle(release, "released");
      else void this.#release(release, repeated);
    }
  }

  /** @param repeated whether an earlier call, of which nothing was heard, may have ended the lease */
  async #release(release: Release, repeated: boolean): Promise<void> {
    const { sent } = release;
    try {
      const outcome = await this.#scripts.release(sent, Math.max(this.#leftMs(release), RETRY_MS));
      if (outcome === "handed-over") {
        if (release.onHandedOver) release.onHandedOver();
        else publish("holdfast:lock:handed-over", () => ({ lock: sent.claim.name }));
      }
      const released = outcome === "released" || outcome === "handed-over";
      this.#settle(release, released || this.#endedBefore(release, repeated) ? "released" : "absent");
    } catch (error) {
      const isUnknown = error instanceof IndeterminateError;
      if (
        (isUnknown || error instanceof UnavailableError) &&
        isPassing(error) &&
        this.#leftMs(release) > RETRY_MS
      ) {
        const delayMs = jittered(this.#random, RETRY_MS, 0.5);
        this.#schedule.after(delayMs, () => void this.#release(release, repeated || isUnknown));
        return;
      }
      this.#cleanup.add(sent);
      this.#ended();
      release.reject(error);
    }
  }

  #leftMs({ since }: Release): number {
    return this.#scripts.callTimeoutMs - elapsedMs(this.#schedule.clock, since);
  }

  /** Gone although its time was not up: if the call may have run twice, the first run ended it. */
  #endedBefore({ since, leaseLeftMs, disruptions }: Release, repeated: boolean): boolean {
    const ranTwice = repeated || this.#scripts.disruptions !== disruptions;
    return ranTwice && elapsedMs(this.#schedule.clock, since) < leaseLeftMs;
  }

  #settle(release: Release, freed: Freed): void {
    this.#ended();
    release.resolve(freed);
  }

  #ended(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#onSettled();
  }
}
