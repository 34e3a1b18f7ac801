/** Holder: what a caller believes of one lease while it has it, written down as a hold. */
import type { Lease } from "holdfast";
import type { Pending, Recorder } from "../../history/recorder.js";
import { monoMs } from "../time.js";

export class Holder {
  readonly #lease: Lease;
  readonly #recorder: Recorder;
  readonly #hold: Pending;
  #validUntilMs: number;
  #lostMs = Number.POSITIVE_INFINITY;

  constructor(recorder: Recorder, lease: Lease, validUntilMs: number) {
    this.#lease = lease;
    this.#recorder = recorder;
    this.#validUntilMs = validUntilMs;
    this.#hold = recorder.begin("hold", lease.name, {
      token: lease.fence,
      nonce: lease.id,
      validUntilMs,
    });
    lease.signal.addEventListener("abort", () => {
      this.#lostMs = Math.min(this.#lostMs, monoMs());
    });
  }

  /** To be called after renewals. Reads the clock first, so that what it says is never too late. */
  look(): void {
    const validUntilMs = monoMs() + this.#lease.remainingMs;
    if (!this.#lease.valid || validUntilMs < this.#validUntilMs + 1) return;
    this.#validUntilMs = validUntilMs;
    const { name, fence: token, id: nonce } = this.#lease;
    this.#recorder.begin("renew", name, { token, nonce, validUntilMs }).ok();
  }

  /**
   * Right before the release. A lease that is valid now has been so all the time: one that lapsed never comes back.
   * Otherwise it ended when it was last known to, or when its signal said so.
   */
  end(): void {
    const nowMs = monoMs();
    const endMs = this.#lease.valid ? nowMs : Math.min(nowMs, this.#validUntilMs, this.#lostMs);
    this.#hold.ok({ endMs, validUntilMs: this.#validUntilMs });
  }
}
