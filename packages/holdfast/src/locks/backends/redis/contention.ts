/**
 * Contention: what locks on Redis need once somebody else wants the same name, a call has failed, or a lease
 * has to be renewed: the scripts that know the line, the waits in it, the inbox, and the cleaning up.
 */
import { ServerError } from "../../../errors.js";
import type { Grant, Hold } from "../../../lease/hold.js";
import type { Keeper, RenewOutcome } from "../../../lease/keeper.js";
import type { RedisContext } from "../../../redis/context.js";
import type { Inbox } from "../../../redis/inbox.js";
import { lockKey, lockKeys, lockNameOf } from "../../../redis/keys.js";
import type { Reply } from "../../../redis/port.js";
import { replyRow } from "../../../redis/reply.js";
import { publish } from "../../../telemetry/events.js";
import { elapsedMs, type Instant } from "../../../time/clock.js";
import type { Busy, Candidate, Freed, LockRequest } from "../../backend.js";
import { Leftovers } from "./leftovers.js";
import { LoneReleases } from "./lone-releases.js";
import { script as acquireScript } from "./lua/acquire.lua.js";
import { script as heartbeatScript } from "./lua/heartbeat.lua.js";
import { script as releaseScript } from "./lua/release.lua.js";
import { script as renewScript } from "./lua/renew.lua.js";
import type { Release } from "./releases.js";
import { holderSeen, type Verdict, verdict } from "./replies.js";
import { ServerClock } from "./server-clock.js";
import { type Wait, Waits } from "./waits.js";

export interface RedisLocksParts extends Pick<RedisContext, "port" | "schedule" | "random" | "inbox"> {
  /** What this process holds now. */
  readonly kept: () => Keeper;
}

export type RedisLocksOptions = Pick<RedisContext, "port" | "prefix" | "owner" | "callTimeoutMs">;

/** What has become of the copies of a request: whether one of them may still reach the server. */
export interface Sending {
  /** How often the connection had broken when it was first sent. */
  readonly disruptions: number;
  /** Sent and not answered, yet or for ever. */
  unanswered: number;
  /** Sent at least once by a client that was connected: it may be on its way, or in the client's hands. */
  left: boolean;
}

/** What `take` did for a request. */
export interface Taken {
  /** Null: not taken. */
  readonly token: bigint | null;
  /** What it saw instead. */
  readonly seen: Reply;
  readonly sentAt: Instant;
  /** When the server saw the request, which is its place in line; "0": it did not see it. */
  readonly ticket: string;
}

/** What the backend does for its part: the account of the copies of each request, and the end of releases. */
export interface Backing {
  /** One more is sent. */
  sent(request: LockRequest): Sending;
  /** For how long a request that ends must be banned, because a copy may still be on the way. */
  banMs(request: LockRequest): number;
  /** Whether a client that is not connected now may send it again when it is. */
  mayBeResent(request: LockRequest): boolean;
  settle(release: Release, freed: Freed): void;
  /** Unknown: tried on in the background. */
  fail(release: Release, error: unknown): void;
}

const MOST_REVOKED = 1_000;
/** What `renew` answers for a lease. */
const RENEWED = 1;
const UNKNOWN_LOCK = -1;
const SHORTEST_CALL_MS = 10;
const UNKNOWN_HOLDER: Busy = { owner: null, ahead: null };

export class Contention {
  readonly #parts: RedisLocksParts;
  readonly #options: RedisLocksOptions;
  readonly #backing: Backing;
  readonly #inbox: Inbox;
  readonly #waits: Waits;
  readonly #leftovers: Leftovers;
  readonly #releases: LoneReleases;
  readonly #serverClock: ServerClock;
  /** Requests whose lease was taken away before this process heard of it. */
  readonly #revoked = new Set<string>();

  constructor(parts: RedisLocksParts, options: RedisLocksOptions, backing: Backing) {
    const { schedule, random, inbox } = parts;
    const { callTimeoutMs } = options;
    this.#parts = parts;
    this.#options = options;
    this.#backing = backing;
    this.#inbox = inbox;
    this.#waits = new Waits(schedule, random, this.#inbox, {
      ask: (wait, standInLine) => this.#ask(wait, standInLine),
      beat: (waits, timeoutMs) => this.#beat(waits, timeoutMs),
    });
    this.#serverClock = new ServerClock(schedule.clock, callTimeoutMs);
    const send = (request: LockRequest, timeoutMs: number) => this.#sendRelease(request, timeoutMs);
    const unknown = (request: LockRequest) => this.abandon(request);
    this.#leftovers = new Leftovers(
      schedule,
      random,
      (request) => send(request, callTimeoutMs),
      (request) => backing.mayBeResent(request),
    );
    this.#releases = new LoneReleases({ ...parts, callTimeoutMs, send, unknown, ...backing });
    this.#inbox.handle("revoked", ([id = ""]) => this.#revoke(id));
    this.#waits.onStray = (id, ttlMs, key) => this.#giveBackStray(id, ttlMs, key);
  }

  /** From now on this process hears at once of what is done to its leases. */
  listen(): void {
    this.#inbox.open();
  }

  /** An answer has told the server's clock. */
  clockRead(serverUs: string, sentAt: Instant): void {
    this.#serverClock.read(serverUs, sentAt);
  }

  #held(id: string): Hold | undefined {
    for (const hold of this.#parts.kept().holds) if (hold.id === id) return hold;
    return undefined;
  }

  /** Somebody took the lease away from its holder, by hand. */
  #revoke(id: string): void {
    const hold = this.#held(id);
    if (hold) {
      this.#parts.kept().drop(hold);
      hold.lose("revoked");
      return;
    }
    // A grant of which this process has not heard yet must not begin to count.
    this.#revoked.add(id);
    if (this.#revoked.size <= MOST_REVOKED) return;
    for (const oldest of this.#revoked) {
      this.#revoked.delete(oldest);
      return;
    }
  }

  wasRevoked({ id }: LockRequest): boolean {
    return this.#revoked.size > 0 && this.#revoked.delete(id);
  }

  /** Goes on where `take` has not taken it. @param since when the attempt began */
  async attempt(request: LockRequest, taken: Taken, since: Instant): Promise<Grant | Busy> {
    const seen = holderSeen(taken.seen, request.id);
    if (typeof seen === "bigint") {
      return this.#granted(request, { token: seen, sentAt: taken.sentAt }) ?? UNKNOWN_HOLDER;
    }
    if (seen) return seen;
    const { clock } = this.#parts.schedule;
    const leftMs = Math.max(this.#options.callTimeoutMs - elapsedMs(clock, since), SHORTEST_CALL_MS);
    const sentAt = clock.now();
    const args = ["0", "", "0", "0"];
    const answer = await this.#sendAcquire(request, args, leftMs);
    if (answer.kind === "granted") {
      return this.#granted(request, { token: answer.token, sentAt }) ?? UNKNOWN_HOLDER;
    }
    return answer.kind === "busy" ? { owner: answer.owner, ahead: null } : UNKNOWN_HOLDER;
  }

  /** Null: it was taken away already. */
  #granted(request: LockRequest, grant: Grant): Grant | null {
    if (this.wasRevoked(request)) return null;
    this.#serverClock.granted(request.name, grant.token);
    return grant;
  }

  /** Goes on where `take` has not taken it, or has not answered: null. Returns how to leave the line. */
  stand(request: LockRequest, candidate: Candidate, taken: Taken | null): () => void {
    let over = false;
    let wait: Wait | null = null;
    const standInLine = (ticket: string): void => {
      if (!over) wait = this.#waits.add(request, told, ticket);
    };
    const told: Candidate = {
      granted: (grant) => {
        if (this.#granted(request, grant)) candidate.granted(grant);
        else standInLine("0");
      },
      waiting: (busy) => candidate.waiting(busy),
      troubled: (error) => candidate.troubled(error),
      refused: (error) => {
        this.#leftovers.add(request); // an earlier try may have put it in line
        candidate.refused(error);
      },
    };
    const seen = taken && holderSeen(taken.seen, request.id);
    if (taken && typeof seen === "bigint") told.granted({ token: seen, sentAt: taken.sentAt });
    else standInLine(taken?.ticket ?? "0");
    return () => {
      over = true;
      if (wait) this.#waits.remove(wait);
    };
  }

  async renew(holds: readonly Hold[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    try {
      return await this.#renew(holds, timeoutMs);
    } catch (error) {
      if (!(error instanceof ServerError && error.serverCode === "NOPERM") || holds.length === 1) throw error;
      // One name that may not be touched must not cost the others their leases.
      const middle = holds.length >> 1;
      const halves = [holds.slice(0, middle), holds.slice(middle)];
      const outcomes = await Promise.allSettled(halves.map((half) => this.renew(half, timeoutMs)));
      return outcomes.flatMap((outcome, place) =>
        outcome.status === "fulfilled" ? outcome.value : (halves[place] ?? []).map(() => "unknown" as const),
      );
    }
  }

  async #renew(holds: readonly Hold[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    const { prefix, callTimeoutMs } = this.#options;
    const reply = await this.#parts.port.script(
      renewScript,
      holds.map((hold) => lockKey(prefix, hold.name)),
      holds.map((hold) => hold.id),
      Math.min(timeoutMs, callTimeoutMs),
    );
    const row = replyRow(reply, holds.length + 1);
    if (row[holds.length] !== holds[0]?.id) replyRow(undefined); // throws: an answer to another call
    return holds.map((hold, place) => this.#outcome(hold, Number(row[place])));
  }

  #outcome({ name }: Hold, code: number): RenewOutcome {
    if (code === RENEWED) return "renewed";
    if (code !== UNKNOWN_LOCK) return "lost";
    publish("holdfast:server:forgot", () => ({ what: "lock", lock: name }));
    return "forgotten";
  }

  /** By a call of its own. @param repeated whether an earlier call may have ended the lease */
  release(release: Release, repeated: boolean): void {
    this.#releases.release(release, repeated);
  }

  #sendRelease(request: LockRequest, timeoutMs: number): Promise<Reply> {
    const args = [request.id, String(this.#backing.banMs(request))];
    return this.#parts.port.script(
      releaseScript,
      lockKeys(this.#options.prefix, request.name),
      args,
      timeoutMs,
    );
  }

  abandon(request: LockRequest): void {
    this.#leftovers.add(request);
  }

  /** Nobody waits any more. */
  endWaits(): void {
    this.#waits.close();
  }

  /** Resolves when the last word is sent. */
  async close(): Promise<void> {
    await this.#leftovers.close();
    this.#inbox.close();
  }

  /** A place in line outlived its request, and was granted the name: it goes back at once. */
  #giveBackStray(id: string, ttlMs: number, key: string): void {
    if (this.#leftovers.hurry(id) || this.#held(id)) return;
    const name = lockNameOf(this.#options.prefix, key);
    if (!name || !(ttlMs > 0)) return; // not written by our scripts
    const request = { name, id, ttlMs, storeTtlMs: ttlMs, turns: 1, floor: 0n };
    const sending: Sending = { disruptions: this.#parts.port.disruptions, unanswered: 1, left: true };
    this.#leftovers.add({ ...request, memo: sending });
  }

  #ask(wait: Wait, standInLine: boolean): Promise<Verdict> {
    const { request } = wait;
    const beat = String(this.#waits.stamp(wait));
    const inLine = standInLine ? "1" : "0";
    return this.#sendAcquire(request, [inLine, this.#inbox.channel, beat, wait.ticket]);
  }

  async #beat(waits: readonly Wait[], timeoutMs: number): Promise<readonly Verdict[]> {
    const { prefix, callTimeoutMs } = this.#options;
    const keys = waits.flatMap((wait) => lockKeys(prefix, wait.request.name));
    const args = waits.flatMap((wait) => [wait.request.id, String(this.#waits.stamp(wait))]);
    const reply = await this.#parts.port.script(
      heartbeatScript,
      keys,
      args,
      Math.min(timeoutMs, callTimeoutMs),
    );
    const row = replyRow(reply, waits.length);
    return waits.map(({ request }, place) => verdict(row[place], request.id));
  }

  async #sendAcquire(
    request: LockRequest,
    rest: readonly string[],
    mostMs = this.#options.callTimeoutMs,
  ): Promise<Verdict> {
    const { id, ttlMs, storeTtlMs, turns, floor } = request;
    const { prefix, owner } = this.#options;
    const args = [id, String(storeTtlMs), String(turns), String(floor), owner, ...rest];
    const keys = lockKeys(prefix, request.name);
    // An answer that takes longer than the lease would be of no use.
    const timeoutMs = Math.min(mostMs, ttlMs);
    const sending = this.#backing.sent(request);
    try {
      const reply = await this.#parts.port.script(acquireScript, keys, args, timeoutMs);
      sending.unanswered -= 1;
      return verdict(reply, id);
    } catch (error) {
      if (error instanceof ServerError) sending.unanswered -= 1;
      throw error;
    }
  }
}
