/**
 * Locks on one Redis or Valkey: the scripts beside this file. Here is what a lock needs that nobody else
 * wants; the rest, in contention.ts, is loaded after the first answer, or at the latest when it is needed.
 *
 * Guarantees, while the server keeps its data: one holder at a time by the server's clock, tokens that
 * rise with every grant, grants in the order of arrival. Not guaranteed: anything about exclusion when
 * the server loses data or a replica that lags is promoted; tokens rise even then, as long as the
 * servers' clocks agree better than the time between the lost grant and the next.
 */
import { type HoldfastError, IndeterminateError } from "../../../errors.js";
import type { Grant, Hold } from "../../../lease/hold.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { Part } from "../../../part.js";
import { lockKey } from "../../../redis/keys.js";
import type { RedisPort, Reply } from "../../../redis/port.js";
import { Batcher } from "../../../time/batcher.js";
import type { Instant } from "../../../time/clock.js";
import type { Schedule } from "../../../time/schedule.js";
import type { Busy, Candidate, Freed, LockBackend, LockRequest } from "../../backend.js";
import type { LockInspection } from "../../inspection.js";
import type { Contention, RedisLocksOptions, RedisLocksParts, Sending, Taken } from "./contention.js";
import { RedisInspection } from "./inspection.js";
import { script as takeScript } from "./lua/acquire-many.lua.js";
import { Releases } from "./releases.js";
import { type TakeReply, takeReply } from "./take-reply.js";

interface Taking {
  readonly request: LockRequest;
  readonly resolve: (taken: Taken) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests of one tick in one call: enough to share its cost, few enough that client and server overlap. */
const CHUNK = 16;
const UNKNOWN_HOLDER: Busy = { owner: null, ahead: null };
/** For how long the last token outlives the lease. */
const KEEP_MS = 86_400_000;

export class RedisLocks implements LockBackend {
  readonly #port: RedisPort;
  readonly #schedule: Schedule;
  readonly #options: RedisLocksOptions;
  readonly #contention: Part<Contention>;
  readonly #takings = new Batcher<Taking>(CHUNK, (takings) => this.#takeAll(takings));
  readonly #releases: Releases;
  readonly inspection: LockInspection;
  #ended = false;

  constructor(
    parts: RedisLocksParts,
    options: RedisLocksOptions,
    code: Part<{ readonly Contention: typeof Contention }>,
  ) {
    this.#port = parts.port;
    this.#schedule = parts.schedule;
    this.#options = options;
    this.inspection = new RedisInspection(options);
    this.#contention = code.made(
      (loaded) =>
        new loaded.Contention(parts, options, {
          sent: (request) => this.#sent(request),
          banMs: (request) => this.#banMs(request),
          mayBeResent: (request) => this.#mayBeResent(request),
          settle: (release, freed) => this.#releases.settle(release, freed),
          fail: (release, error) => this.#releases.fail(release, error),
        }),
    );
    this.#releases = new Releases({
      ...parts,
      ...options,
      mayGive: (request) => this.#banMs(request) === 0,
      alone: this.#contention,
    });
  }

  async attempt(request: LockRequest): Promise<Grant | Busy> {
    const since = this.#schedule.clock.now();
    const taken = await this.#take(request);
    const { token, sentAt } = taken;
    const { value } = this.#contention;
    if (token === null) return (value ?? (await this.#contention.load())).attempt(request, taken, since);
    return value?.wasRevoked(request) ? UNKNOWN_HOLDER : { token, sentAt };
  }

  stand(request: LockRequest, candidate: Candidate): () => void {
    let over = false;
    let leave: (() => void) | null = null;
    const standInLine = (taken: Taken | null): void => {
      if (over) return;
      this.#use(
        (contention) => {
          if (!over) leave = contention.stand(request, candidate, taken);
        },
        (error) => {
          if (!over) candidate.refused(error);
        },
      );
    };
    this.#take(request).then(
      (taken) => {
        const { token, sentAt } = taken;
        if (token === null) standInLine(taken);
        else if (this.#contention.value?.wasRevoked(request)) standInLine(null);
        else if (!over) candidate.granted({ token, sentAt });
      },
      (error) => {
        if (!over && error instanceof IndeterminateError) candidate.troubled(error);
        standInLine(null);
      },
    );
    return () => {
      over = true;
      leave?.();
      this.abandon(request);
    };
  }

  async renew(holds: readonly Hold[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    return (this.#contention.value ?? (await this.#contention.load())).renew(holds, timeoutMs);
  }

  /** From now on this process hears at once of what is done to its leases. */
  listen(): void {
    this.#use((contention) => contention.listen());
  }

  release(request: LockRequest, hold: Hold): Promise<Freed> {
    return this.#releases.add(request, hold);
  }

  abandon(request: LockRequest): void {
    this.#use((contention) => contention.abandon(request));
  }

  async close(): Promise<void> {
    this.#contention.value?.endWaits();
    await this.#releases.settled();
    this.#ended = true;
    const contention = await this.#contention.begun?.catch(() => null);
    await contention?.close();
  }

  #use(callback: (contention: Contention) => void, failed?: (error: HoldfastError) => void): void {
    if (!this.#ended) this.#contention.use(callback, failed);
  }

  /** @param request taken only where any token will do */
  #take(request: LockRequest): Promise<Taken> {
    if (request.floor > 0n) return Promise.resolve(this.#notAsked());
    return new Promise((resolve, reject) => {
      this.#sent(request);
      this.#takings.add({ request, resolve, reject });
    });
  }

  #notAsked(): Taken {
    return { token: null, seen: null, sentAt: this.#schedule.clock.now(), ticket: "0" };
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
    const timeoutMs = Math.min(callTimeoutMs, ...takings.map(({ request }) => request.ttlMs));
    const sentAt = this.#schedule.clock.now();
    this.#port.script(takeScript, keys, args, timeoutMs).then(
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
      this.#notTaken(takings, error as HoldfastError);
      return;
    }
    const { seen, ticket } = answer;
    for (const [place, { request, resolve }] of takings.entries()) {
      (request.memo as Sending).unanswered -= 1;
      const each = seen[place] ?? null;
      const token = typeof each === "bigint" ? each : null;
      resolve({ token, seen: token === null ? (each as Reply) : null, sentAt, ticket });
    }
    // So that the first to wait here, and the first for whom others wait, need not wait for the code.
    const { value } = this.#contention;
    if (value) value.clockRead(ticket, sentAt);
    else this.#use((contention) => contention.clockRead(ticket, sentAt));
  }

  #notTaken(takings: readonly Taking[], error: HoldfastError): void {
    const refused = error.code === "SERVER_ERROR";
    for (const { request, resolve, reject } of takings) {
      if (refused) (request.memo as Sending).unanswered -= 1;
      // What is refused may be the fault of one name: each asks for itself.
      if (refused && takings.length > 1) resolve(this.#notAsked());
      else reject(error);
    }
  }

  #sent(request: LockRequest): Sending {
    const { disruptions, trouble } = this.#port;
    request.memo ??= { disruptions, unanswered: 0, left: false };
    const sending = request.memo as Sending;
    sending.unanswered += 1;
    sending.left ||= trouble === null;
    return sending;
  }

  #mayBeResent({ memo }: LockRequest): boolean {
    const sending = memo as Sending | undefined;
    return this.#port.trouble !== null && sending?.left === true && sending.unanswered > 0;
  }

  /** A copy of the request that arrives after its release must not take the name for nobody. */
  #banMs(request: LockRequest): number {
    const sending = request.memo as Sending | undefined;
    const settled = !sending || (sending.unanswered === 0 && sending.disruptions === this.#port.disruptions);
    return settled ? 0 : request.storeTtlMs;
  }
}
