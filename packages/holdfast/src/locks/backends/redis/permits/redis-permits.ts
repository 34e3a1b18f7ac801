/**
 * Semaphores, or read-write locks, on one Redis or Valkey. A claim is made, waits, is cleaned up and ends as that of a mutex does; only
 * the scripts differ, and the verb of the messages.
 */
import type { RenewOutcome } from "../../../../lease/keeper.js";
import type { RedisContext } from "../../../../redis/context.js";
import { synchronizerNameOf } from "../../../../redis/keys.js";
import type { Claim, ClaimObserver, Holder, PermitBackend, StoreClaim } from "../../../backend.js";
import type { PermitInspection } from "../../../permit-inspection.js";
import type { FirstRequests } from "../claim-scripts.js";
import { Cleanup } from "../cleanup.js";
import { LiveClaims } from "../live-claims.js";
import type { LockScriptsContext } from "../lock-scripts.js";
import { type ClaimParts, RedisClaim } from "../redis-claim.js";
import { Releases } from "../releases.js";
import { ServerClock } from "../server-clock.js";
import { giveBackStray } from "../stray.js";
import { Waits } from "../waits.js";
import { RedisPermitInspection } from "./inspection.js";
import { type PermitNoun, PermitScripts } from "./permit-scripts.js";

type PermitsContext = LockScriptsContext & Pick<RedisContext, "random" | "inbox" | "listenAfterMs">;

/** Of each grant in a message, which tells their number before and the key behind them. */
const GRANT_WORDS = 4;

export class RedisPermits implements PermitBackend {
  readonly noun: PermitNoun;
  readonly inspection: PermitInspection;
  readonly #scripts: PermitScripts;
  readonly #parts: ClaimParts;

  constructor(noun: PermitNoun, context: PermitsContext) {
    const { prefix, schedule, random, inbox, callTimeoutMs } = context;
    const { clock } = schedule;
    this.noun = noun;
    const scripts = new PermitScripts(noun, context);
    this.#scripts = scripts;
    this.inspection = new RedisPermitInspection(noun, context, scripts);
    const cleanup = new Cleanup(schedule, random, scripts);
    // A claim asks for itself, and stands in line with its first request.
    const acquisitions: FirstRequests = {
      add: (_, asker) =>
        queueMicrotask(() => asker.answered({ verdict: null, sentAt: clock.now(), ticket: "0" })),
    };
    this.#parts = {
      clock,
      scripts,
      cleanup,
      acquisitions,
      serverClock: new ServerClock(clock, callTimeoutMs),
      releases: new Releases({ schedule, random, scripts, cleanup }),
      waits: new Waits(schedule, random, inbox, scripts),
      live: new LiveClaims(context),
    };
    context.port.onClosed?.((error) => this.#parts.waits.refuse(error));
    inbox.handle(noun, ([word, first = "", ...words]) => {
      if (word === "revoked") this.#parts.live.find(first)?.revoke();
      if (word === "wake") this.#parts.waits.wake(first);
      if (word !== "grant") return;
      const key = GRANT_WORDS * Number(first);
      for (let place = 0; place < Math.min(key, words.length); place += GRANT_WORDS) {
        const [id = "", token, heartbeat, ttlMs] = words.slice(place, place + GRANT_WORDS);
        if (this.#parts.waits.grant(id, token, heartbeat)) continue;
        const name = synchronizerNameOf(prefix, noun, words.slice(key).join(" "));
        giveBackStray(this.#parts, { name, id, ttlMs: Number(ttlMs) });
      }
    });
  }

  claim(claim: Claim, observer: ClaimObserver): StoreClaim {
    return new RedisClaim(claim, observer, this.#parts);
  }

  renew(holders: readonly Holder[], timeoutMs: number): Promise<readonly RenewOutcome[]> {
    return this.#scripts.renew(holders, timeoutMs);
  }

  async reduce({ name, id }: Holder, keep: number): Promise<boolean> {
    return (await this.#scripts.change(name, { id, keep })) !== "absent";
  }

  async resize(name: string, permits: number | null): Promise<void> {
    await this.#scripts.change(name, { limit: permits === null ? "-" : String(permits) });
  }

  async close(): Promise<void> {
    const { waits, releases, cleanup } = this.#parts;
    waits.close();
    await releases.settled();
    await cleanup.close();
  }
}
