/**
 * Locks on one Redis or Valkey: the scripts beside this file, the line that waits, and the cleaning up.
 *
 * Guarantees, while the server keeps its data: one holder at a time by the server's clock, tokens that
 * rise with every grant, grants in the order of arrival. Not guaranteed: anything about exclusion when
 * the server loses data or a replica that lags is promoted; tokens rise even then, as long as the
 * servers' clocks agree better than the time between the lost grant and the next.
 */
import { IndeterminateError, ServerError } from "../../../errors.js";
import type { Grant, Hold } from "../../../lease/hold.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { Inbox } from "../../../redis/inbox.js";
import { lockKeys, lockNameOf } from "../../../redis/keys.js";
import type { RedisPort, Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { publish } from "../../../telemetry/events.js";
import { elapsedMs } from "../../../time/clock.js";
import { jittered, type Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Busy, Candidate, Freed, LockBackend, LockRequest } from "../../backend.js";
import { script as acquireScript } from "./acquire.lua.js";
import { script as beatScript } from "./beat.lua.js";
import { Leftovers } from "./leftovers.js";
import { script as releaseScript } from "./release.lua.js";
import { script as renewScript } from "./renew.lua.js";
import { type Verdict, verdict } from "./replies.js";
import { type Wait, Waits } from "./waits.js";

export interface RedisLocksParts {
  readonly port: RedisPort;
  readonly inbox: Inbox;
  readonly schedule: Schedule;
  readonly random: Random;
  /** Whether this process holds by that request now. */
  readonly isHeld: (id: string) => boolean;
}

export interface RedisLocksOptions {
  readonly prefix: string;
  /** JSON that names this process, for people. */
  readonly owner: string;
  readonly callTimeoutMs: number;
}

/** What has become of the copies of a request: whether one of them may still reach the server. */
interface Sending {
  /** How often the connection had broken when it was first sent. */
  readonly disruptions: number;
  /** Sent and not answered, yet or for ever. */
  unanswered: number;
}

const RELEASED = 1;
const HANDED_OVER = 2;
const RELEASE_RETRY_MS = 20;

export class RedisLocks implements LockBackend {
  readonly #port: RedisPort;
  readonly #inbox: Inbox;
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #isHeld: (id: string) => boolean;
  readonly #options: RedisLocksOptions;
  readonly #waits: Waits;
  readonly #leftovers: Leftovers;
  readonly #sendings = new WeakMap<LockRequest, Sending>();
  readonly #releases = new Set<Promise<Freed>>();

  constructor(parts: RedisLocksParts, options: RedisLocksOptions) {
    this.#port = parts.port;
    this.#inbox = parts.inbox;
    this.#schedule = parts.schedule;
    this.#random = parts.random;
    this.#isHeld = parts.isHeld;
    this.#options = options;
    this.#waits = new Waits(parts.schedule, parts.random, parts.inbox, {
      ask: (wait, standInLine) => this.#ask(wait, standInLine),
      beat: (waits, limitMs) => this.#beat(waits, limitMs),
    });
    this.#leftovers = new Leftovers(parts.schedule, parts.random, (request) =>
      this.#sendRelease(request, options.callTimeoutMs),
    );
    this.#waits.onStray = (id, ttlMs, key) => this.#giveBackStray(id, ttlMs, key);
  }

  async attempt(request: LockRequest): Promise<Grant | Busy> {
    const sentAt = this.#schedule.clock.now();
    const answer = await this.#sendAcquire(request, ["0", request.barging ? "1" : "0", "", "0", "0"]);
    if (answer.kind === "granted") return { token: answer.token, sentAt };
    return { owner: answer.kind === "busy" ? answer.owner : null, ahead: null };
  }

  stand(request: LockRequest, candidate: Candidate): () => void {
    const wait = this.#waits.add(request, {
      granted: (grant) => candidate.granted(grant),
      waiting: (busy) => candidate.waiting(busy),
      troubled: (error) => candidate.troubled(error),
      refused: (error) => {
        this.#leftovers.add(request); // an earlier try may have put it in line
        candidate.refused(error);
      },
    });
    return () => {
      this.#waits.remove(wait);
      this.#leftovers.add(request);
    };
  }

  async renew(holds: readonly Hold[], limitMs: number): Promise<readonly RenewOutcome[]> {
    const locks = holds.map((hold) => lockKeys(this.#options.prefix, hold.name)[0] as string);
    const args = holds.flatMap((hold) => [hold.id, String(hold.storeTtlMs)]);
    const reply = await this.#port.script(
      renewScript,
      locks,
      args,
      Math.min(limitMs, this.#options.callTimeoutMs),
    );
    return replyRow(reply, holds.length).map((outcome) => (Number(outcome) === 1 ? "renewed" : "lost"));
  }

  release(request: LockRequest, hold: Hold): Promise<Freed> {
    const release = this.#release(request, hold);
    this.#releases.add(release);
    const forget = (): void => void this.#releases.delete(release);
    release.then(forget, forget);
    return release;
  }

  async #release(request: LockRequest, hold: Hold): Promise<Freed> {
    const { clock } = this.#schedule;
    const since = clock.now();
    const leaseLeftMs = hold.remainingMs;
    const disruptions = this.#port.disruptions;
    let repeated = false;
    for (;;) {
      const leftMs = this.#options.callTimeoutMs - elapsedMs(clock, since);
      try {
        const [status] = replyRow(await this.#sendRelease(request, leftMs));
        if (Number(status) === HANDED_OVER)
          publish("holdfast:lock:handed-over", () => ({ lock: request.name }));
        if (Number(status) === RELEASED || Number(status) === HANDED_OVER) return "released";
        // Gone although its time was not up: if this call may have run twice, the first run ended it.
        const ranTwice = repeated || this.#port.disruptions !== disruptions;
        return ranTwice && elapsedMs(clock, since) < leaseLeftMs ? "released" : "absent";
      } catch (error) {
        const leftAfterMs = this.#options.callTimeoutMs - elapsedMs(clock, since) - RELEASE_RETRY_MS;
        if (!(error instanceof IndeterminateError) || leftAfterMs <= 0) {
          this.#leftovers.add(request);
          throw error;
        }
        repeated = true;
        await this.#pause(jittered(this.#random, RELEASE_RETRY_MS, 0.5));
      }
    }
  }

  abandon(request: LockRequest): void {
    this.#leftovers.add(request);
  }

  async close(): Promise<void> {
    this.#waits.close();
    await Promise.allSettled(this.#releases);
    await this.#leftovers.close();
    this.#inbox.close();
  }

  /** A place in line outlived its request, and was granted the name: it goes back at once. */
  #giveBackStray(id: string, ttlMs: number, key: string): void {
    if (this.#leftovers.hurry(id) || this.#isHeld(id)) return;
    const name = lockNameOf(this.#options.prefix, key);
    if (!name || !(ttlMs > 0)) return; // not written by our scripts
    const request = { name, id, ttlMs, storeTtlMs: ttlMs, turns: 1, floor: 0n, barging: false };
    this.#sendings.set(request, { disruptions: this.#port.disruptions, unanswered: 1 });
    this.#leftovers.add(request);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#schedule.after(ms, resolve));
  }

  #ask(wait: Wait, standInLine: boolean): Promise<Verdict> {
    const { request } = wait;
    const beat = String(this.#waits.stamp(wait));
    const inLine = standInLine ? "1" : "0";
    return this.#sendAcquire(request, [
      inLine,
      request.barging ? "1" : "0",
      this.#inbox.channel,
      beat,
      wait.ticket,
    ]);
  }

  async #beat(waits: readonly Wait[], limitMs: number): Promise<readonly Verdict[]> {
    const keys = waits.flatMap((wait) => lockKeys(this.#options.prefix, wait.request.name));
    const args = waits.flatMap((wait) => [wait.request.id, String(this.#waits.stamp(wait))]);
    const reply = await this.#port.script(
      beatScript,
      keys,
      args,
      Math.min(limitMs, this.#options.callTimeoutMs),
    );
    return replyRow(reply, waits.length).map(verdict);
  }

  async #sendAcquire(request: LockRequest, rest: readonly string[]): Promise<Verdict> {
    const { id, ttlMs, storeTtlMs, turns, floor } = request;
    const args = [id, String(storeTtlMs), String(turns), String(floor), this.#options.owner, ...rest];
    const keys = lockKeys(this.#options.prefix, request.name);
    // An answer that takes longer than the lease would be of no use.
    const limitMs = Math.min(this.#options.callTimeoutMs, ttlMs);
    const sending = this.#sendings.get(request) ?? { disruptions: this.#port.disruptions, unanswered: 0 };
    this.#sendings.set(request, sending);
    sending.unanswered += 1;
    try {
      const reply = await this.#port.script(acquireScript, keys, args, limitMs);
      sending.unanswered -= 1;
      return verdict(reply);
    } catch (error) {
      if (error instanceof ServerError) sending.unanswered -= 1;
      throw error;
    }
  }

  #sendRelease(request: LockRequest, limitMs: number): Promise<Reply> {
    const args = [request.id, String(this.#banMs(request)), request.barging ? "1" : "0"];
    return this.#port.script(releaseScript, lockKeys(this.#options.prefix, request.name), args, limitMs);
  }

  /** A copy of the request that arrives after its release must not take the name for nobody. */
  #banMs(request: LockRequest): number {
    const sending = this.#sendings.get(request);
    const settled = !sending || (sending.unanswered === 0 && sending.disruptions === this.#port.disruptions);
    return settled ? 0 : request.storeTtlMs;
  }
}
