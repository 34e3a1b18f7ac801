/**
 * GuardEngine: decides for all guards of a Holdfast. It answers from a list, from a penalty that is still in force, and in
 * an outage. Every other hit goes to the script (guard.lua).
 */
import { ClosedError, HoldfastError, tellCaller } from "../errors.js";
import { OutageLimiter } from "../limits/outage-limiter.js";
import type { RedisContext } from "../redis/context.js";
import { guardKeys } from "../redis/keys.js";
import { replyRow } from "../redis/reply.js";
import { publish } from "../telemetry/events.js";
import { script } from "./guard.lua.js";
import { GuardLists, type HitOptions, parseListedAs } from "./guard-lists.js";
import type { GuardSettings, GuardVerdict } from "./guard-settings.js";
import { PenaltyCache } from "./penalty-cache.js";

export type GuardContext = Pick<RedisContext, "breakerPort" | "schedule" | "prefix" | "callTimeoutMs">;

const MOST_PENALIZED = 10_000;
const STRUCK = 2;
const inReply = 5;

export class GuardEngine {
  readonly #context: GuardContext;
  readonly #penalties: PenaltyCache;
  readonly #local: OutageLimiter;
  readonly #lists = new WeakMap<GuardSettings, GuardLists>();
  #closed = false;

  constructor(context: GuardContext) {
    const { schedule } = context;
    this.#context = context;
    this.#penalties = new PenaltyCache(schedule.clock, MOST_PENALIZED);
    this.#local = new OutageLimiter(schedule.clock, MOST_PENALIZED);
  }

  hit(settings: GuardSettings, subject: string, route: string, options?: HitOptions): Promise<GuardVerdict> {
    return this.#ask(settings, "hit", { subject, route, listedAs: parseListedAs(options) ?? subject });
  }

  look(settings: GuardSettings, subject: string, route: string, options?: HitOptions): Promise<GuardVerdict> {
    return this.#ask(settings, "look", { subject, route, listedAs: parseListedAs(options) ?? subject });
  }

  async pardon(settings: GuardSettings, subject: string): Promise<void> {
    if (this.#closed) throw new ClosedError("pardon() came after hf.close()");
    const keys = guardKeys(this.#context.prefix, settings.name, subject, "");
    this.#penalties.pardon(keys[0]);
    try {
      await this.#script(settings, "pardon", keys);
    } finally {
      this.#penalties.pardon(keys[0]);
    }
  }

  close(): void {
    this.#closed = true;
  }

  async #ask(
    settings: GuardSettings,
    how: "hit" | "look",
    {
      subject,
      route,
      listedAs,
    }: { readonly subject: string; readonly route: string; readonly listedAs: string },
  ): Promise<GuardVerdict> {
    if (this.#closed) throw new ClosedError(`${how}() came after hf.close()`);
    const said = this.#findLists(settings).say([listedAs, subject], this.#timeoutOf(settings));
    const listed = said instanceof Promise ? await said : said;
    if (listed !== null) return toListVerdict(settings, listed);
    const keys = guardKeys(this.#context.prefix, settings.name, subject, route);
    const standing = settings.cache ? this.#penalties.standing(keys[0]) : null;
    if (standing) return standing;
    const [since, pardons] = [this.#context.schedule.clock.now(), this.#penalties.pardons];
    try {
      const { verdict, struck } = await this.#script(settings, how, keys);
      if (settings.cache) this.#penalties.note(keys[0], since, pardons, verdict);
      if (struck) tellPunished(settings, subject, route, verdict);
      return verdict;
    } catch (error) {
      return this.#outage(settings, how, keys[1], error);
    }
  }

  async #script(
    settings: GuardSettings,
    how: "hit" | "look" | "pardon",
    keys: readonly string[],
  ): Promise<{ verdict: GuardVerdict; struck: boolean }> {
    const call = this.#context.breakerPort.script(
      script,
      keys,
      [how, ...settings.words],
      this.#timeoutOf(settings),
    );
    const [said, strikes, place, leftUs, remaining] = replyRow(await tellCaller(call), inReply).map(
      Number,
    ) as [number, number, number, number, number];
    const verdict: GuardVerdict = {
      ok: said === 0,
      penalty: settings.penalties[place - 1] ?? null,
      retryAfterMs: Math.ceil(leftUs / 1_000),
      strikes,
      remaining,
      source: "redis",
    };
    return { verdict, struck: said === STRUCK };
  }

  #outage(settings: GuardSettings, how: "hit" | "look", key: string, error: unknown): GuardVerdict {
    if (!(error instanceof HoldfastError) || error instanceof ClosedError) throw error;
    const { name, outage, penalties, share } = settings;
    publish("holdfast:guard:outage", () => ({ guard: name, outage, error }));
    if (outage === "error") throw error;
    if (outage === "local") {
      const counted = how === "hit" ? this.#local.take(share, key, 1) : this.#local.look(share, key, 1);
      const { ok, remaining, retryAfterMs } = counted;
      const penalty = ok ? null : (penalties[0] ?? null);
      return { ok, penalty, retryAfterMs, strikes: 0, remaining, source: "outage" };
    }
    const ok = outage === "open";
    return { ok, penalty: null, retryAfterMs: ok ? 0 : null, strikes: 0, remaining: 0, source: "outage" };
  }

  #findLists(settings: GuardSettings): GuardLists {
    const known = this.#lists.get(settings);
    if (known) return known;
    const lists = new GuardLists(this.#context.schedule, settings);
    this.#lists.set(settings, lists);
    return lists;
  }

  #timeoutOf({ timeoutMs }: GuardSettings): number {
    return timeoutMs ?? this.#context.callTimeoutMs;
  }
}

function toListVerdict({ hits }: GuardSettings, listed: "allow" | "deny"): GuardVerdict {
  const ok = listed === "allow";
  return {
    ok,
    penalty: null,
    retryAfterMs: ok ? 0 : null,
    strikes: 0,
    remaining: ok ? hits : 0,
    source: "list",
  };
}

function tellPunished({ name }: GuardSettings, subject: string, route: string, verdict: GuardVerdict): void {
  const { penalty, strikes } = verdict;
  if (!penalty) return;
  publish("holdfast:guard:punished", () => ({
    guard: name,
    subject,
    route,
    strikes,
    kind: penalty.kind,
    forMs: penalty.forMs,
  }));
}
