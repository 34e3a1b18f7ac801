/**
 * Locks on one Redis or Valkey: the scripts in lua/, and the objects that decide when to send them.
 *
 * Guarantees, while the server keeps its data: one holder at a time by the server's clock, tokens that
 * rise with every grant, grants in the order of arrival. Not guaranteed: anything about exclusion when
 * the server loses data or a replica that lags is promoted; tokens rise even then, as long as the
 * servers' clocks agree better than the time between the lost grant and the next.
 */
import type { RenewOutcome } from "../../../lease/keeper.js";
import type { RedisContext } from "../../../redis/context.js";
import { lockNameOf } from "../../../redis/keys.js";
import type { Claim, ClaimObserver, Holder, LockBackend, StoreClaim } from "../../backend.js";
import type { LockInspection } from "../../inspection.js";
import { Acquisitions } from "./acquisitions.js";
import { Cleanup } from "./cleanup.js";
import { RedisInspection } from "./inspection.js";
import { LiveClaims } from "./live-claims.js";
import { LockScripts, type LockScriptsContext } from "./lock-scripts.js";
import { type ClaimParts, RedisClaim } from "./redis-claim.js";
import { Releases } from "./releases.js";
import { ServerClock } from "./server-clock.js";
import { Waits } from "./waits.js";

type LocksContext = LockScriptsContext & Pick<RedisContext, "random" | "inbox">;

export class RedisLocks implements LockBackend {
  readonly inspection: LockInspection;
  readonly #prefix: string;
  readonly #parts: ClaimParts;

  constructor(context: LocksContext) {
    const { prefix, schedule, random, inbox, callTimeoutMs } = context;
    const { clock } = schedule;
    this.#prefix = prefix;
    this.inspection = new RedisInspection(context);
    const scripts = new LockScripts(context);
    const serverClock = new ServerClock(clock, callTimeoutMs);
    const cleanup = new Cleanup(schedule, random, scripts);
    this.#parts = {
      clock,
      scripts,
      serverClock,
      cleanup,
      acquisitions: new Acquisitions(scripts, schedule, serverClock),
      releases: new Releases(schedule, random, scripts, cleanup),
      waits: new Waits(schedule, random, inbox, scripts),
      live: new LiveClaims(schedule, inbox),
    };
    inbox.handle("grant", ([id = "", token, heartbeat, ttlMs, ...key]) => {
      if (!this.#parts.waits.grant(id, token, heartbeat))
        this.#giveBackStray(id, Number(ttlMs), key.join(" "));
    });
    inbox.handle("wake", ([id = ""]) => this.#parts.waits.wake(id));
    inbox.handle("revoked", ([id = ""]) => this.#parts.live.find(id)?.revoke());
  }

  claim(claim: Claim, observer: ClaimObserver): StoreClaim {
    return new RedisClaim(claim, observer, this.#parts);
  }

  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    return this.#parts.scripts.renew(holders, timeoutMs);
  }

  async close(): Promise<void> {
    const { waits, releases, cleanup } = this.#parts;
    waits.close();
    await releases.settled();
    await cleanup.close();
  }

  /** A place in line outlived its claim, and was granted the lock: it goes back at once. */
  #giveBackStray(id: string, ttlMs: number, key: string): void {
    const { cleanup, live, scripts } = this.#parts;
    if (cleanup.hurry(id) || live.find(id)?.isHeld) return;
    const name = lockNameOf(this.#prefix, key);
    if (!name || !(ttlMs > 0)) return; // not written by our scripts
    const sent = scripts.account({
      name,
      id,
      mode: "exclusive",
      weight: 1,
      ttlMs,
      storeTtlMs: ttlMs,
      turns: 1,
      minFence: 0n,
    });
    // A copy of a claim that nobody remembers may be on its way.
    sent.unanswered = 1;
    sent.left = true;
    cleanup.add(sent);
  }
}
