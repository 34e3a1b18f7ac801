/**
 * Locks on one Redis or Valkey: the scripts in lua/, and the objects that decide when to send them.
 *
 * Guarantees, while the server keeps its data: one holder at a time by the server's clock, tokens that
 * rise with every grant, grants in the order of arrival. Not guaranteed: anything about exclusion when
 * the server loses data or a replica that lags is promoted; tokens rise even then, as long as the
 * servers' clocks agree better than the time between the lost grant and the next.
 */
import type { HoldfastError } from "../../../errors.js";
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { RedisContext } from "../../../redis/context.js";
import { lockNameOf } from "../../../redis/keys.js";
import { awayOf, type RedisPort } from "../../../redis/port.js";
import type { Instant } from "../../../time/clock.js";
import type { Claim, Holder, LockBackend, StoreClaim, Taken, Transfer } from "../../backend.js";
import { Acquisitions } from "./acquisitions.js";
import { Cleanup } from "./cleanup.js";
import { RedisInspection } from "./inspection.js";
import { LiveClaims } from "./live-claims.js";
import { LockScripts, type LockScriptsContext } from "./lock-scripts.js";
import { type ClaimParts, type ObserverHere, RedisClaim } from "./redis-claim.js";
import { Releases } from "./releases.js";
import { ServerClock } from "./server-clock.js";
import { TakeAll } from "./several/take-all.js";
import { giveBackStray } from "./stray.js";
import { Waits } from "./waits.js";

type LocksContext = LockScriptsContext & Pick<RedisContext, "random" | "inbox" | "listenAfterMs">;

export interface RedisLocksOptions {
  /** The share of its ttl that one request for a claim may take. @default 1 */
  readonly callShare?: number | undefined;
}

export class RedisLocks implements LockBackend {
  readonly inspection: RedisInspection;
  readonly #parts: ClaimParts & { readonly scripts: LockScripts };
  readonly #takeAll: TakeAll;
  readonly #port: RedisPort;

  constructor(context: LocksContext, { callShare }: RedisLocksOptions = {}) {
    const { prefix, schedule, random, inbox, callTimeoutMs } = context;
    const { clock } = schedule;
    this.inspection = new RedisInspection(context);
    const scripts = new LockScripts(context, callShare);
    const serverClock = new ServerClock(clock, callTimeoutMs);
    const cleanup = new Cleanup(schedule, random, scripts);
    this.#parts = {
      clock,
      scripts,
      serverClock,
      cleanup,
      acquisitions: new Acquisitions(scripts, schedule, serverClock),
      releases: new Releases({ schedule, random, scripts, cleanup }),
      waits: new Waits(schedule, random, inbox, scripts),
      live: new LiveClaims(context),
    };
    this.#takeAll = new TakeAll(context, scripts);
    this.#port = context.port;
    this.#port.onClosed?.((error) => this.#parts.waits.refuse(error));
    inbox.handle("grant", ([id = "", token, heartbeat, ttlMs, ...key]) => {
      if (this.#parts.waits.grant(id, token, heartbeat)) return;
      const name = lockNameOf(prefix, key.join(" "));
      giveBackStray(this.#parts, { name, id, ttlMs: Number(ttlMs) });
    });
    inbox.handle("wake", ([id = ""]) => this.#parts.waits.wake(id));
    inbox.handle("revoked", ([id = ""]) => this.#parts.live.find(id)?.revoke());
  }

  /** @param common the token that the first question asks for */
  claim(claim: Claim, observer: ObserverHere, common?: string): RedisClaim {
    return new RedisClaim(claim, observer, this.#parts, common);
  }

  /** What the server's clock will say when a question that is sent now arrives, in µs. Null: the server has not told its clock yet. */
  arrivalUs(now: Instant): number | null {
    return this.#parts.serverClock.arrivalUs(now);
  }

  /** The time-out of one request for a claim with this ttl. */
  limitMs(ttlMs: number): number {
    return this.#parts.scripts.limitMs(ttlMs);
  }

  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    return this.#parts.scripts.renew(holders, timeoutMs);
  }

  away(): HoldfastError | null {
    return awayOf(this.#port);
  }

  onAway(listener: (error: () => HoldfastError) => void): void {
    this.#port.onClosed?.(listener);
  }

  /** Claims on semaphores and read-write locks of the same Redis may be among them. */
  takeAll(claims: readonly StoreClaim[]): Promise<Taken | null> {
    return this.#takeAll.take(claims);
  }

  transfer(holder: Holder, to: string): Promise<Transfer> {
    return this.#parts.scripts.transfer(holder, to);
  }

  async close(): Promise<void> {
    const { waits, releases, cleanup } = this.#parts;
    waits.close();
    await releases.settled();
    await cleanup.close();
  }
}
