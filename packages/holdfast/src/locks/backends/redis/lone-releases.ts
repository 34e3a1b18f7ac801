/**
 * LoneReleases: leases that go back by a call of their own, which hands over to the first in line. A call
 * without an answer is tried again within the same limit.
 */
import { IndeterminateError } from "../../../errors.js";
import type { RedisPort, Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { publish } from "../../../telemetry/events.js";
import { elapsedMs } from "../../../time/clock.js";
import { jittered, type Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Freed, LockRequest } from "../../backend.js";
import type { Release } from "./releases.js";

export interface LoneReleasesParts {
  readonly port: RedisPort;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly callTimeoutMs: number;
  /** `release.lua`, once. */
  readonly send: (request: LockRequest, timeoutMs: number) => Promise<Reply>;
  /** Nobody knows what became of it. */
  readonly unknown: (request: LockRequest) => void;
  readonly settle: (release: Release, freed: Freed) => void;
  readonly fail: (release: Release, error: unknown) => void;
}

const RELEASED = 1;
const HANDED_OVER = 2;
const RETRY_MS = 20;

export class LoneReleases {
  readonly #parts: LoneReleasesParts;

  constructor(parts: LoneReleasesParts) {
    this.#parts = parts;
  }

  /** @param repeated whether an earlier call, of which nothing was heard, may have ended the lease */
  release(release: Release, repeated: boolean): void {
    const { request } = release;
    const { schedule, random, send, unknown, settle, fail } = this.#parts;
    send(request, Math.max(this.#leftMs(release), RETRY_MS))
      .then((reply) => {
        const status = Number(replyRow(reply)[0]);
        if (status === HANDED_OVER) publish("holdfast:lock:handed-over", () => ({ lock: request.name }));
        const released = status === RELEASED || status === HANDED_OVER;
        settle(release, released || this.#endedBefore(release, repeated) ? "released" : "absent");
      })
      .catch((error) => {
        if (error instanceof IndeterminateError && this.#leftMs(release) > RETRY_MS) {
          schedule.after(jittered(random, RETRY_MS, 0.5), () => this.release(release, true));
          return;
        }
        unknown(request);
        fail(release, error);
      });
  }

  #leftMs({ since }: Release): number {
    return this.#parts.callTimeoutMs - elapsedMs(this.#parts.schedule.clock, since);
  }

  /** Gone although its time was not up: if the call may have run twice, the first run ended it. */
  #endedBefore({ since, leaseLeftMs, disruptions }: Release, repeated: boolean): boolean {
    const { port, schedule } = this.#parts;
    const ranTwice = repeated || port.disruptions !== disruptions;
    return ranTwice && elapsedMs(schedule.clock, since) < leaseLeftMs;
  }
}
