/**
 * Releases: leases on their way back to the server. Those of one tick go back together in one call, where
 * nobody waits for them; one that is alone, or that somebody may wait for, goes by a call of its own, which
 * hands over. Before the code for that is loaded, one that is alone goes like those of one tick.
 */
import { IndeterminateError } from "../../../errors.js";
import type { Hold } from "../../../lease/hold.js";
import type { Part } from "../../../part.js";
import { lockKey } from "../../../redis/keys.js";
import type { RedisPort } from "../../../redis/port.js";
import { Batcher } from "../../../time/batcher.js";
import type { Instant } from "../../../time/clock.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Freed, LockRequest } from "../../backend.js";
import { script as giveScript } from "./lua/release-many.lua.js";

export interface Release {
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
  readonly prefix: string;
  readonly callTimeoutMs: number;
  /** Whether it may go back together with others: no copy of its request is on the way. */
  readonly mayGive: (request: LockRequest) => boolean;
  /** For those that go alone. `repeated`: an earlier call may have ended the lease. */
  readonly alone: Part<{ release(release: Release, repeated: boolean): void }>;
}

const RELEASED = 1;
/** As many as are asked for in one call. */
const CHUNK = 16;

export class Releases {
  readonly #parts: ReleasesParts;
  readonly #batch = new Batcher<Release>(CHUNK, (releases) => this.#send(releases));
  #underWay = 0;
  #onSettled: () => void = () => {};

  constructor(parts: ReleasesParts) {
    this.#parts = parts;
  }

  /** Rejects when the outcome is unknown, after seeing to it that it is tried on. */
  add(request: LockRequest, hold: Hold): Promise<Freed> {
    return new Promise((resolve, reject) => {
      const { port, schedule } = this.#parts;
      const since = schedule.clock.now();
      const leaseLeftMs = hold.leftMs(since);
      this.#underWay += 1;
      this.#batch.add({ request, since, leaseLeftMs, disruptions: port.disruptions, resolve, reject });
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
    const { port, prefix, callTimeoutMs, mayGive, alone } = this.#parts;
    const give = releases.length > 1 || alone.value === null;
    const together = give ? releases.filter(({ request }) => mayGive(request)) : [];
    for (const release of releases) if (!together.includes(release)) this.#release(release, false);
    if (together.length === 0) return;
    const keys = together.map(({ request }) => lockKey(prefix, request.name));
    const ids = together.map(({ request }) => request.id);
    port.script(giveScript, keys, ids, callTimeoutMs).then(
      (reply) => {
        for (const [place, release] of together.entries()) {
          if (Array.isArray(reply) && Number(reply[place]) === RELEASED) this.settle(release, "released");
          else this.#release(release, false);
        }
      },
      (error) => {
        for (const release of together) this.#release(release, error instanceof IndeterminateError);
      },
    );
  }

  #release(release: Release, repeated: boolean): void {
    this.#parts.alone.use(
      (alone) => alone.release(release, repeated),
      (error) => this.fail(release, error),
    );
  }

  settle(release: Release, freed: Freed): void {
    this.#ended();
    release.resolve(freed);
  }

  fail(release: Release, error: unknown): void {
    this.#ended();
    release.reject(error);
  }

  #ended(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#onSettled();
  }
}
