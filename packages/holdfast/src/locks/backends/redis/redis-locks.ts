/**
 * Locks on one Redis or Valkey: the scripts beside this file, the line that waits, and the cleaning up.
 *
 * Guarantees, while the server keeps its data: one holder at a time by the server's clock, tokens that
 * rise with every grant, grants in the order of arrival. Not guaranteed: anything about exclusion when
 * the server loses data or a replica that lags is promoted; tokens rise even then, as long as the
 * servers' clocks agree better than the time between the lost grant and the next.
 */
import { ServerError } from "../../../errors/refusals.js";
import { IndeterminateError } from "../../../errors.js";
import type { Grant, Hold } from "../../../lease/hold.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { Inbox } from "../../../redis/inbox.js";
import { lockKey, lockKeys, lockNameOf } from "../../../redis/keys.js";
import type { RedisPort, Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { agedMs, type Instant } from "../../../time/clock.js";
import type { Random } from "../../../time/random.js";
import type { Schedule } from "../../../time/schedule.js";
import { Tick } from "../../../time/tick.js";
import type { Busy, Candidate, Freed, LockBackend, LockRequest } from "../../backend.js";
import { script as acquireScript } from "./acquire.lua.js";
import { script as beatScript } from "./beat.lua.js";
import { Leftovers } from "./leftovers.js";
import { script as releaseScript } from "./release.lua.js";
import { Releases } from "./releases.js";
import { script as renewScript } from "./renew.lua.js";
import { type TakeReply, takeReply, type Verdict, verdict } from "./replies.js";
import { script as takeScript } from "./take.lua.js";
import { type Wait, Waits } from "./waits.js";

export interface RedisLocksParts {
  readonly port: RedisPort;
  readonly inbox: Inbox;
  readonly schedule: Schedule;
  readonly random: Random;
  /** Whether this process holds by that request now. */
  readonly isHeld: (id: string) => boolean;
  /** The lease of that request was taken away. False: it is not held here. */
  readonly revoke: (id: string) => boolean;
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

/** What `take` did for one request; where neither, it is `acquire` that can tell. */
interface Taken {
  readonly grant: Grant | null;
  readonly busy: Busy | null;
  /** When the server saw the request, which is its place in line; "0": it did not see it. */
  readonly ticket: string;
}

const NOT_ASKED: Taken = { grant: null, busy: null, ticket: "0" };

interface Taking {
  readonly request: LockRequest;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests of one tick in one call: enough to share its cost, few enough that client and server overlap. */
const CHUNK = 16;
const MOST_REVOKED = 1_000;
const SHORTEST_CALL_MS = 10;
const UNKNOWN_HOLDER: Busy = { owner: null, ahead: null };
/** For how long the last token outlives the lease. */
const KEEP_MS = 86_400_000;

export class RedisLocks implements LockBackend {
  readonly #port: RedisPort;
  readonly #inbox: Inbox;
  readonly #schedule: Schedule;
  readonly #isHeld: (id: string) => boolean;
  readonly #options: RedisLocksOptions;
  readonly #waits: Waits;
  readonly #leftovers: Leftovers;
  readonly #takings = new Tick<Taking>(CHUNK, (takings) => this.#takeAll(takings));
  readonly #releases: Releases;
  /** Requests whose lease was taken away before this process heard of it. */
  readonly #revoked = new Set<string>();

  constructor(parts: RedisLocksParts, options: RedisLocksOptions) {
    this.#port = parts.port;
    this.#inbox = parts.inbox;
    this.#schedule = parts.schedule;
    this.#isHeld = parts.isHeld;
    this.#options = options;
    this.#waits = new Waits(parts.schedule, parts.random, parts.inbox, {
      ask: (wait, standInLine) => this.#ask(wait, standInLine),
      beat: (waits, limitMs) => this.#beat(waits, limitMs),
    });
    this.#releases = new Releases(parts, options, {
      mayGive: (request) => this.#banMs(request) === 0,
      release: (request, limitMs) => this.#sendRelease(request, limitMs),
      unknown: (request) => this.#leftovers.add(request),
    });
    this.#leftovers = new Leftovers(parts.schedule, parts.random, (request) =>
      this.#sendRelease(request, options.callTimeoutMs),
    );
    parts.inbox.handle("revoked", ([id = ""]) => {
      // A grant of which this process has not heard yet must not begin to count.
      if (!parts.revoke(id)) this.#remember(id);
    });
    this.#waits.onStray = (id, ttlMs, key) => this.#giveBackStray(id, ttlMs, key);
  }

  async attempt(request: LockRequest): Promise<Grant | Busy> {
    const since = this.#schedule.clock.now();
    const { grant, busy } = await this.#take(request);
    if (grant) return this.#wasRevoked(request) ? UNKNOWN_HOLDER : grant;
    if (busy) return busy;
    const sentAt = this.#schedule.clock.now();
    const leftMs = Math.max(this.#options.callTimeoutMs - agedMs(sentAt, since), SHORTEST_CALL_MS);
    const args = ["0", request.barging ? "1" : "0", "", "0", "0"];
    const answer = await this.#sendAcquire(request, args, leftMs);
    if (answer.kind === "granted" && !this.#wasRevoked(request)) return { token: answer.token, sentAt };
    return answer.kind === "busy" ? { owner: answer.owner, ahead: null } : UNKNOWN_HOLDER;
  }

  stand(request: LockRequest, candidate: Candidate): () => void {
    let over = false;
    let wait: Wait | null = null;
    const standInLine = (ticket: string): void => {
      if (!over) wait = this.#waits.add(request, told, ticket);
    };
    const told: Candidate = {
      granted: (grant) => {
        if (this.#wasRevoked(request)) standInLine("0");
        else candidate.granted(grant);
      },
      waiting: (busy) => candidate.waiting(busy),
      troubled: (error) => candidate.troubled(error),
      refused: (error) => {
        this.#leftovers.add(request); // an earlier try may have put it in line
        candidate.refused(error);
      },
    };
    this.#take(request).then(
      ({ grant, ticket }) => {
        if (!grant) standInLine(ticket);
        else if (!over) told.granted(grant);
      },
      (error) => {
        if (!over && error instanceof IndeterminateError) candidate.troubled(error);
        standInLine("0");
      },
    );
    return () => {
      over = true;
      if (wait) this.#waits.remove(wait);
      this.#leftovers.add(request);
    };
  }

  async renew(holds: readonly Hold[], limitMs: number): Promise<readonly RenewOutcome[]> {
    try {
      return await this.#renew(holds, limitMs);
    } catch (error) {
      if (!(error instanceof ServerError && error.serverCode === "NOPERM") || holds.length === 1) throw error;
      // One name that may not be touched must not cost the others their leases.
      const middle = holds.length >> 1;
      const halves = [holds.slice(0, middle), holds.slice(middle)];
      const outcomes = await Promise.allSettled(halves.map((half) => this.renew(half, limitMs)));
      return outcomes.flatMap((outcome, place) =>
        outcome.status === "fulfilled" ? outcome.value : (halves[place] ?? []).map(() => "unknown" as const),
      );
    }
  }

  async #renew(holds: readonly Hold[], limitMs: number): Promise<readonly RenewOutcome[]> {
    const reply = await this.#port.script(
      renewScript,
      holds.map((hold) => lockKey(this.#options.prefix, hold.name)),
      holds.map((hold) => hold.id),
      Math.min(limitMs, this.#options.callTimeoutMs),
    );
    const row = replyRow(reply, holds.length + 1);
    if (row[holds.length] !== holds[0]?.id) replyRow(undefined); // throws: an answer to another call
    return holds.map((_, place) => (Number(row[place]) === 1 ? "renewed" : "lost"));
  }

  #remember(id: string): void {
    this.#revoked.add(id);
    if (this.#revoked.size <= MOST_REVOKED) return;
    for (const oldest of this.#revoked) {
      this.#revoked.delete(oldest);
      return;
    }
  }

  #wasRevoked(request: LockRequest): boolean {
    return this.#revoked.size > 0 && this.#revoked.delete(request.id);
  }

  /** From now on this process hears at once of what is done to its leases. */
  listen(): void {
    this.#inbox.open();
  }

  release(request: LockRequest, hold: Hold): Promise<Freed> {
    return this.#releases.add(request, hold);
  }

  abandon(request: LockRequest): void {
    this.#leftovers.add(request);
  }

  async close(): Promise<void> {
    this.#waits.close();
    await this.#releases.settled();
    await this.#leftovers.close();
    this.#inbox.close();
  }

  /** A place in line outlived its request, and was granted the name: it goes back at once. */
  #giveBackStray(id: string, ttlMs: number, key: string): void {
    if (this.#leftovers.hurry(id) || this.#isHeld(id)) return;
    const name = lockNameOf(this.#options.prefix, key);
    if (!name || !(ttlMs > 0)) return; // not written by our scripts
    const request = { name, id, ttlMs, storeTtlMs: ttlMs, turns: 1, floor: 0n, barging: false };
    const sending: Sending = { disruptions: this.#port.disruptions, unanswered: 1 };
    this.#leftovers.add({ ...request, memo: sending });
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
    const row = replyRow(reply, waits.length);
    return waits.map(({ request }, place) => verdict(row[place], request.id));
  }

  #take(request: LockRequest): Promise<Taken> {
    if (request.floor > 0n) return Promise.resolve(NOT_ASKED);
    return new Promise((resolve, reject) => {
      this.#sent(request);
      this.#takings.add({ request, resolve, reject });
    });
  }

  #takeAll(takings: readonly Taking[]): void {
    const { storeTtlMs, turns } = (takings[0] as Taking).request;
    const alike = (taking: Taking): boolean =>
      taking.request.storeTtlMs === storeTtlMs && taking.request.turns === turns;
    if (!takings.every(alike)) {
      this.#takeAll(takings.filter(alike));
      this.#takeAll(takings.filter((taking) => !alike(taking)));
      return;
    }
    const { prefix, owner, callTimeoutMs } = this.#options;
    const keys = takings.map(({ request }) => lockKey(prefix, request.name));
    const args = [`${KEEP_MS} ${storeTtlMs} ${owner}`, String(turns), String(KEEP_MS + storeTtlMs)];
    for (const { request } of takings) args.push(request.id);
    const limitMs = Math.min(callTimeoutMs, ...takings.map(({ request }) => request.ttlMs));
    const sentAt = this.#schedule.clock.now();
    this.#port.script(takeScript, keys, args, limitMs).then(
      (reply) => this.#taken(takings, reply, sentAt),
      (error) => this.#notTaken(takings, error),
    );
  }

  #taken(takings: readonly Taking[], reply: Reply, sentAt: Instant): void {
    let answer: TakeReply;
    try {
      answer = takeReply(
        reply,
        takings.map(({ request }) => request.id),
      );
    } catch (error) {
      this.#notTaken(takings, error);
      return;
    }
    const { seen, ticket } = answer;
    for (const [place, { request, resolve }] of takings.entries()) {
      (request.memo as Sending).unanswered -= 1;
      const outcome = seen[place] ?? null;
      if (typeof outcome === "bigint") resolve({ grant: { token: outcome, sentAt }, busy: null, ticket });
      else resolve({ grant: null, busy: outcome, ticket });
    }
  }

  #notTaken(takings: readonly Taking[], error: unknown): void {
    for (const { request, resolve, reject } of takings) {
      if (error instanceof ServerError) (request.memo as Sending).unanswered -= 1;
      // What is refused may be the fault of one name: each asks for itself.
      if (error instanceof ServerError && takings.length > 1) resolve(NOT_ASKED);
      else reject(error);
    }
  }

  #sent(request: LockRequest): Sending {
    request.memo ??= { disruptions: this.#port.disruptions, unanswered: 0 };
    const sending = request.memo as Sending;
    sending.unanswered += 1;
    return sending;
  }

  async #sendAcquire(
    request: LockRequest,
    rest: readonly string[],
    mostMs = this.#options.callTimeoutMs,
  ): Promise<Verdict> {
    const { id, ttlMs, storeTtlMs, turns, floor } = request;
    const args = [id, String(storeTtlMs), String(turns), String(floor), this.#options.owner, ...rest];
    const keys = lockKeys(this.#options.prefix, request.name);
    // An answer that takes longer than the lease would be of no use.
    const limitMs = Math.min(mostMs, ttlMs);
    const sending = this.#sent(request);
    try {
      const reply = await this.#port.script(acquireScript, keys, args, limitMs);
      sending.unanswered -= 1;
      return verdict(reply, id);
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
    const sending = request.memo as Sending | undefined;
    const settled = !sending || (sending.unanswered === 0 && sending.disruptions === this.#port.disruptions);
    return settled ? 0 : request.storeTtlMs;
  }
}
