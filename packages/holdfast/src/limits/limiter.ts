/**
 * Limiter: decides for all limits of a Holdfast. It answers from a refusal that is still in force, from tokens that were
 * taken ahead, and in an outage. Every other charge goes to the script (charges.ts).
 */
import { ClosedError, fromCaller, HoldfastError, IndeterminateError, UnavailableError } from "../errors.js";
import type { BreakerPort } from "../redis/breaker.js";
import { limitKey } from "../redis/keys.js";
import { publish } from "../telemetry/events.js";
import type { Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import { type Ask, Charges } from "./charges.js";
import { type CheckParts, type IndexPart, LimitIndex } from "./limit-index.js";
import { LocalTokens } from "./local-tokens.js";
import { OutageLimiter } from "./outage-limiter.js";
import { type CallStart, RefusalCache } from "./refusal-cache.js";
import {
  type Cell,
  type GroupResult,
  type LimitResult,
  type LimitSource,
  type Reservation,
  toCell,
} from "./result.js";
import { checkCost, checkLate, type LimitSettings, parseMoment } from "./settings.js";
import { nothing, toGroupResult, toResult, type Verdict } from "./verdict.js";

export interface Charge {
  readonly target: string;
  readonly cost: number;
  readonly atMs: number | null;
}

export interface Charged {
  readonly settings: LimitSettings;
  readonly charge: Charge;
}

export interface LimiterOptions {
  readonly port: BreakerPort;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly prefix: string;
  readonly callTimeoutMs: number;
}

/** Of each of the tables by which calls are spared. */
const MOST_KEYS = 10_000;

export class Limiter {
  readonly #options: LimiterOptions;
  readonly #charges: Charges;
  readonly #refusals: RefusalCache;
  readonly #local: OutageLimiter;
  readonly #blocks: LocalTokens;
  #closed = false;

  constructor(options: LimiterOptions) {
    const { port, schedule, random, prefix } = options;
    this.#options = options;
    this.#charges = new Charges(port, random, prefix);
    this.#refusals = new RefusalCache(schedule.clock, MOST_KEYS);
    this.#local = new OutageLimiter(schedule.clock, MOST_KEYS);
    this.#blocks = new LocalTokens(schedule.clock, MOST_KEYS);
  }

  take(settings: LimitSettings, charge: Charge): LimitResult | Promise<LimitResult> {
    this.#assertOpen("take()");
    checkLate(settings, charge);
    if (settings.policy.max === 0) return nothing(settings, charge.cost);
    const ask = this.#askOf(settings, charge, charge.cost);
    if (ask.atUs === null) {
      const refusal = settings.cache ? this.#refusals.standing(settings, ask.key, ask.cost) : null;
      if (refusal) return refusal;
      if (settings.block > 0 && ask.cost > 0) return this.#blocks.deal(ask) ?? this.#takeOfBlock(ask);
    }
    return this.#take(ask);
  }

  async peek(settings: LimitSettings, charge: Charge): Promise<LimitResult> {
    this.#assertOpen("peek()");
    if (settings.policy.max === 0) return nothing(settings, charge.cost);
    const ask = this.#askOf(settings, charge, charge.cost);
    try {
      const [verdict] = await this.#together("look", [ask]);
      return toResult(settings, verdict as Verdict);
    } catch (error) {
      return this.#outage(ask, fromCaller(error, fromCaller), false);
    }
  }

  async refund(settings: LimitSettings, charge: Charge): Promise<LimitResult> {
    this.#assertOpen("refund()");
    if (settings.policy.max === 0) return nothing(settings, 0);
    return this.#giveBack(this.#askOf(settings, charge, -charge.cost));
  }

  /** Every one by itself, each as far as it goes. */
  async refundAll(asked: readonly Charged[]): Promise<GroupResult> {
    const results = await Promise.all(asked.map(({ settings, charge }) => this.refund(settings, charge)));
    return toGroupResult(results, combineSources(results), null);
  }

  /** Of a group that was taken, to where it was: while Redis was away to the share of this process. */
  async giveBack(parts: readonly IndexPart[], took: GroupResult, costs: readonly number[]): Promise<void> {
    const there: Charged[] = [];
    for (const [place, { limit, target }] of parts.entries()) {
      const charge = { target, cost: checkCost("costs", costs[place] ?? 0), atMs: took.atMs };
      if (!took.ok || charge.cost === 0) continue;
      const { key, settings } = this.#askOf(limit.settings, charge, 0);
      if (took.results[place]?.source !== "outage") there.push({ settings, charge });
      else if (settings.outage === "local") this.#local.take(settings, key, -charge.cost);
    }
    if (there.length > 0) await this.refundAll(there);
  }

  async set(settings: LimitSettings, charge: Charge): Promise<LimitResult> {
    this.#assertOpen("set()");
    if (settings.policy.max === 0) return nothing(settings, 0);
    const ask = this.#askOf(settings, charge, charge.cost);
    this.#blocks.forget(ask.key);
    const [verdict] = await this.#changing(ask.key, () => this.#together("set", [ask]));
    return toResult(settings, verdict as Verdict);
  }

  async reset(settings: LimitSettings, target: string): Promise<void> {
    this.#assertOpen("reset()");
    const ask = this.#askOf(settings, { target, cost: 0, atMs: null }, 0);
    this.#blocks.forget(ask.key);
    await this.#changing(ask.key, () =>
      this.#options.port.command(["DEL", ask.key], this.#timeoutOf(settings)),
    );
  }

  async reserve(settings: LimitSettings, charge: Charge): Promise<Reservation> {
    this.#assertOpen("reserve()");
    const ask = this.#askOf(settings, charge, charge.cost);
    let took: LimitResult | null = settings.policy.max === 0 ? nothing(settings, charge.cost) : null;
    if (settings.cache) took ??= this.#refusals.standing(settings, ask.key, ask.cost);
    let nowUs: number | null = null;
    took ??= await this.#take(ask, (verdict) => {
      nowUs = verdict.nowUs;
    });
    const result = took;
    const settle = async (actual: number): Promise<LimitResult> => {
      const back = charge.cost - actual;
      if (!result.ok || back === 0) return result;
      if (nowUs !== null)
        return back < 0 ? this.#chargeMore(ask, -back) : this.#giveBack({ ...ask, cost: -back, atUs: nowUs });
      if (settings.outage !== "local") return result;
      const { remaining } = this.#local.look(settings, ask.key, 0);
      return toOverrun(this.#local.take(settings, ask.key, Math.min(-back, remaining)), -back <= remaining);
    };
    let settled: Promise<LimitResult> | null = null;
    return {
      ...result,
      async settle(actual) {
        checkCost("actual", actual);
        settled ??= settle(actual).catch((error: unknown) => {
          // What was certainly not given back may be tried again.
          if (!(error instanceof IndeterminateError)) settled = null;
          throw error;
        });
        return settled;
      },
    };
  }

  /** Every one is charged or none. */
  async all(asked: readonly Charged[], how: "take" | "look"): Promise<GroupResult> {
    this.#assertOpen(how === "take" ? "take()" : "peek()");
    for (const { settings, charge } of asked) checkLate(settings, charge);
    const asks = asked.map(({ settings, charge }) => this.#askOf(settings, charge, charge.cost));
    const refusals = asks.map(({ settings, key, cost, atUs }) => {
      if (settings.policy.max === 0) return cost > 0 ? nothing(settings, cost) : null;
      return settings.cache && atUs === null ? this.#refusals.standing(settings, key, cost) : null;
    });
    // All that refuse are to be named, so all but those that admit nothing are asked, unless all refuse.
    if (refusals.every((refusal) => refusal !== null)) return toGroupResult(refusals, "cache", null);
    const isBarred = ({ settings, cost }: Ask): boolean => settings.policy.max === 0 && cost > 0;
    const open = asks.filter((ask) => !isBarred(ask));
    const [answers, source, atMs] = await this.#askAll(open, open.length < asks.length ? "look" : how);
    const left = [...answers];
    const results = asks.map((ask) =>
      isBarred(ask) ? nothing(ask.settings, ask.cost) : (left.shift() as LimitResult),
    );
    return toGroupResult(results, source, atMs);
  }

  /** Each is charged by itself, and given back where another refuses. @throws what the first of them rejects with */
  async across(asked: readonly Charged[]): Promise<GroupResult> {
    this.#assertOpen("take()");
    for (const { settings, charge } of asked) checkLate(settings, charge);
    const answers = await Promise.allSettled(
      asked.map(({ settings, charge }) => this.reserve(settings, charge)),
    );
    const taken = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed || taken.some(({ ok }) => !ok)) {
      // What cannot be given back runs out as every charge does.
      const back = taken.map(async (each) => (each.ok ? { ...(await each.settle(0)), ok: true } : each));
      const results = await Promise.all(
        back.map((each, place) => each.catch(() => taken[place] as Reservation)),
      );
      if (failed) throw fromCaller(failed.reason, fromCaller);
      return toGroupResult(results.map(resultIn), combineSources(taken), null);
    }
    return toGroupResult(taken.map(resultIn), combineSources(taken), null);
  }

  cell({ burst }: LimitSettings, result: LimitResult): Cell {
    return toCell(burst, result);
  }

  index(name: string, check: CheckParts): LimitIndex {
    return new LimitIndex(name, this.#options, check, (key) => this.#forget(key));
  }

  /** Gives back what is left of blocks, as far as that can be done at once. */
  async close(): Promise<void> {
    this.#closed = true;
    const left = this.#options.port.trouble === null ? this.#blocks.takeAll() : [];
    const back = left.map(({ ask, left: n, atUs }) =>
      this.#charges.one({ ...ask, cost: -n, atUs }, this.#timeoutOf(ask.settings)).catch(() => {}),
    );
    await Promise.all(back);
  }

  #assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} came after hf.close()`);
  }

  #askOf(settings: LimitSettings, { target, atMs }: Charge, cost: number): Ask {
    const { type, name } = settings.policy;
    const key = limitKey(this.#options.prefix, type, name, target);
    return { settings, target, key, cost, atUs: parseMoment(atMs) };
  }

  #timeoutOf({ timeoutMs }: LimitSettings): number {
    return timeoutMs ?? this.#options.callTimeoutMs;
  }

  async #take(
    ask: Ask,
    heard: (verdict: Verdict) => void = () => {},
    timeoutMs: number = this.#timeoutOf(ask.settings),
  ): Promise<LimitResult> {
    const start = this.#refusals.start();
    try {
      const verdict = await this.#charges.one(ask, timeoutMs);
      heard(verdict);
      return this.#toResult(ask, start, verdict);
    } catch (error) {
      return this.#outage(ask, fromCaller(error, fromCaller), true);
    }
  }

  async #takeOfBlock(ask: Ask): Promise<LimitResult> {
    const { clock } = this.#options.schedule;
    const start = this.#refusals.start();
    const timeoutMs = this.#timeoutOf(ask.settings);
    // In whole ms: those of one turn travel together.
    const leftMs = (): number => Math.max(1, Math.ceil(timeoutMs - (clock.now().monoMs - start.at.monoMs)));
    try {
      const found = await this.#blocks.take(
        ask,
        (ahead) => this.#charges.one(ask, leftMs(), ahead),
        (done) => this.#within(leftMs(), done),
      );
      if (found) return "verdict" in found ? this.#toResult(ask, start, found.verdict) : found;
    } catch (error) {
      return this.#outage(ask, fromCaller(error, fromCaller), true);
    }
    const refusal = ask.settings.cache ? this.#refusals.standing(ask.settings, ask.key, ask.cost) : null;
    return refusal ?? this.#take(ask, undefined, leftMs());
  }

  async #giveBack(ask: Ask): Promise<LimitResult> {
    const verdict = await this.#changing(ask.key, () =>
      this.#charges.one(ask, this.#timeoutOf(ask.settings)),
    );
    return toResult(ask.settings, verdict);
  }

  /** What was used beyond a reservation: as far as it fits, for it is done. */
  async #chargeMore(ask: Ask, extra: number): Promise<LimitResult> {
    const ahead = { extra, holdUs: 0 };
    const verdict = await this.#changing(ask.key, () =>
      this.#charges.one({ ...ask, cost: 0 }, this.#timeoutOf(ask.settings), ahead),
    );
    return toOverrun(toResult(ask.settings, verdict), verdict.extra === extra);
  }

  /** The work may free what was refused, so refusals of the key are forgotten, with those that are under way. */
  async #changing<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    try {
      return await work();
    } catch (error) {
      throw fromCaller(error, fromCaller);
    } finally {
      this.#refusals.forget(key);
    }
  }

  #forget(key: string): void {
    this.#refusals.forget(key);
    this.#blocks.forget(key);
  }

  /** @throws {UnavailableError} it takes longer */
  #within<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
    const { schedule } = this.#options;
    return new Promise((resolve, reject) => {
      const alarm = schedule.after(timeoutMs, () =>
        reject(new UnavailableError(`what another call had asked for was not there within ${timeoutMs} ms`)),
      );
      void work.then(resolve, reject).finally(() => schedule.cancel(alarm));
    });
  }

  #toResult(ask: Ask, start: CallStart, verdict: Verdict): LimitResult {
    const result = toResult(ask.settings, verdict);
    if (!result.ok && ask.settings.cache && ask.atUs === null)
      this.#refusals.note(ask.settings, ask.key, ask.cost, start, result);
    return result;
  }

  #together(how: "take" | "look" | "set", asks: readonly Ask[]): Promise<Verdict[]> {
    const timeoutMs = Math.min(...asks.map(({ settings }) => this.#timeoutOf(settings)));
    return this.#charges.together(how, asks, timeoutMs);
  }

  async #askAll(
    asks: readonly Ask[],
    how: "take" | "look",
  ): Promise<[readonly LimitResult[], LimitSource, atMs: number | null]> {
    const start = this.#refusals.start();
    try {
      const verdicts = await this.#together(how, asks);
      const results = asks.map((ask, place) => this.#toResult(ask, start, verdicts[place] as Verdict));
      return [results, "redis", verdicts[0] ? verdicts[0].nowUs / 1_000 : null];
    } catch (error) {
      const told = fromCaller(error, fromCaller);
      const looked = asks.map((ask) => this.#outage(ask, told, false));
      if (how === "look" || !looked.every(({ ok }) => ok)) return [looked, "outage", null];
      const taken = asks.map(({ settings, key, cost }, place) =>
        settings.outage === "local" ? this.#local.take(settings, key, cost) : (looked[place] as LimitResult),
      );
      return [taken, "outage", null];
    }
  }

  /** Where Redis cannot be asked, what the limit wants then. */
  #outage({ settings, key, cost }: Ask, error: unknown, isTaken: boolean): LimitResult {
    if (!(error instanceof HoldfastError) || error instanceof ClosedError) throw error;
    const { policy, outage } = settings;
    publish("holdfast:limit:outage", () => ({ limit: policy.name, outage, error }));
    if (outage === "error") throw error;
    if (outage === "local")
      return isTaken ? this.#local.take(settings, key, cost) : this.#local.look(settings, key, cost);
    const ok = outage === "open";
    return { ok, remaining: 0, retryAfterMs: ok ? 0 : null, resetMs: null, policy, source: "outage" };
  }
}

/** What did not fit is never charged. */
function toOverrun(result: LimitResult, isAll: boolean): LimitResult {
  return { ...result, ok: isAll, retryAfterMs: isAll ? 0 : null };
}

function resultIn({ ok, remaining, retryAfterMs, resetMs, policy, source }: LimitResult): LimitResult {
  return { ok, remaining, retryAfterMs, resetMs, policy, source };
}

/** What decided: an outage anywhere, else Redis where it was asked. */
function combineSources(results: readonly LimitResult[]): LimitSource {
  const sources = results.map(({ source }) => source);
  return (
    sources.find((source) => source === "outage") ?? sources.find((source) => source === "redis") ?? "cache"
  );
}
