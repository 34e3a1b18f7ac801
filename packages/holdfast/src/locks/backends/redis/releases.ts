/**
 * Releases: leases on their way back to the server. Those of one tick go back together in one call, where
 * nobody waits for them; one that is alone, or that somebody may wait for, goes by a call of its own, which
 * hands over; before that script is loaded, only those that somebody may wait for. A call without an answer is tried again within the same limit.
 */
import { IndeterminateError } from "../../../errors.js";
import type { Hold } from "../../../lease/hold.js";
import { lockKey } from "../../../redis/keys.js";
import type { RedisPort, Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { publish } from "../../../telemetry/events.js";
import { elapsedMs, type Instant } from "../../../time/clock.js";
import { jittered, type Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import { Tick } from "../../../time/tick.js";
import type { Freed, LockRequest } from "../../backend.js";
import { script as giveScript } from "./give.lua.js";

interface Release {
  readonly request: LockRequest;
  readonly since: Instant;
  readonly leaseLeftMs: number;
  /** How often the connection had broken before. */
  readonly disruptions: number;
  readonly resolve: (freed: Freed) => void;
  readonly reject: (error: unknown) => void;
}

export interface ReleasesParts {
  readonly port: RedisPort;
  readonly schedule: Schedule;
  readonly random: Random;
}

/** What the backend does for its releases. */
export interface ReleaseCalls {
  /** Whether it may go back together with others: no copy of its request is on the way. */
  mayGive(request: LockRequest): boolean;
  /** Whether the script that hands over is loaded. */
  handsOver(): boolean;
  /** `release.lua`, once. */
  release(request: LockRequest, limitMs: number): Promise<Reply>;
  /** Nobody knows what became of it. */
  unknown(request: LockRequest): void;
}

const RELEASED = 1;
const HANDED_OVER = 2;
const RETRY_MS = 20;
/** As many as are asked for in one call. */
const CHUNK = 16;

export class Releases {
  readonly #port: RedisPort;
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #prefix: string;
  readonly #callTimeoutMs: number;
  readonly #calls: ReleaseCalls;
  readonly #tick = new Tick<Release>(CHUNK, (releases) => this.#send(releases));
  #underWay = 0;
  #onSettled: () => void = () => {};

  constructor(
    { port, schedule, random }: ReleasesParts,
    { prefix, callTimeoutMs }: { readonly prefix: string; readonly callTimeoutMs: number },
    calls: ReleaseCalls,
  ) {
    this.#port = port;
    this.#schedule = schedule;
    this.#random = random;
    this.#prefix = prefix;
    this.#callTimeoutMs = callTimeoutMs;
    this.#calls = calls;
  }

  /** Rejects when the outcome is unknown, after seeing to it that it is tried on. */
  add(request: LockRequest, hold: Hold): Promise<Freed> {
    return new Promise((resolve, reject) => {
      const since = this.#schedule.clock.now();
      const leaseLeftMs = hold.leftMs(since);
      this.#underWay += 1;
      this.#tick.add({ request, since, leaseLeftMs, disruptions: this.#port.disruptions, resolve, reject });
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
    const give = releases.length > 1 || !this.#calls.handsOver();
    const together = give ? releases.filter(({ request }) => this.#calls.mayGive(request)) : [];
    for (const release of releases) if (!together.includes(release)) this.#release(release, false);
    if (together.length === 0) return;
    const keys = together.map(({ request }) => lockKey(this.#prefix, request.name));
    const ids = together.map(({ request }) => request.id);
    this.#port.script(giveScript, keys, ids, this.#callTimeoutMs).then(
      (reply) => {
        for (const [place, release] of together.entries()) {
          if (Array.isArray(reply) && Number(reply[place]) === RELEASED) this.#settle(release, "released");
          else this.#release(release, false);
        }
      },
      (error) => {
        for (const release of together) this.#release(release, error instanceof IndeterminateError);
      },
    );
  }

  /** @param repeated whether an earlier call, of which nothing was heard, may have ended the lease */
  #release(release: Release, repeated: boolean): void {
    const { request } = release;
    this.#calls
      .release(request, Math.max(this.#leftMs(release), RETRY_MS))
      .then((reply) => {
        const status = Number(replyRow(reply)[0]);
        if (status === HANDED_OVER) publish("holdfast:lock:handed-over", () => ({ lock: request.name }));
        const released = status === RELEASED || status === HANDED_OVER;
        this.#settle(release, released || this.#endedBefore(release, repeated) ? "released" : "absent");
      })
      .catch((error) => {
        if (error instanceof IndeterminateError && this.#leftMs(release) > RETRY_MS) {
          this.#schedule.after(jittered(this.#random, RETRY_MS, 0.5), () => this.#release(release, true));
          return;
        }
        this.#calls.unknown(request);
        this.#ended();
        release.reject(error);
      });
  }

  #leftMs({ since }: Release): number {
    return this.#callTimeoutMs - elapsedMs(this.#schedule.clock, since);
  }

  /** Gone although its time was not up: if the call may have run twice, the first run ended it. */
  #endedBefore({ since, leaseLeftMs, disruptions }: Release, repeated: boolean): boolean {
    const ranTwice = repeated || this.#port.disruptions !== disruptions;
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
