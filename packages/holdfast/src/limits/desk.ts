/**
 * Desk: where all limits of a Holdfast are asked. A refusal that stands, a block that was taken before, and an outage
 * are answered here; everything else by the script (charges.ts).
 */
import { ClosedError, fromCaller, HoldfastError, IndeterminateError, UnavailableError } from "../errors.js";
import type { BreakerPort } from "../redis/breaker.js";
import { limitKey } from "../redis/keys.js";
import { publish } from "../telemetry/events.js";
import type { Random } from "../time/random.js";
import type { Schedule } from "../time/schedule.js";
import { Blocks } from "./blocks.js";
import { type Cell, cellOf } from "./cell.js";
import { type Ask, Charges } from "./charges.js";
import { type CheckParts, type IndexPart, LimitIndex } from "./limit-index.js";
import { LocalShare } from "./local-share.js";
import { checkLate, momentUs } from "./moment.js";
import { type Asking, Refusals } from "./refusals.js";
import type { GroupResult, LimitResult, LimitSource, Reservation } from "./result.js";
import { checkCost, type Terms } from "./terms.js";
import { groupOf, nothing, resultOf, type Verdict } from "./verdict.js";

export interface Charge {
  readonly target: string;
  readonly cost: number;
  readonly atMs: number | null;
}

export interface Charged {
  readonly terms: Terms;
  readonly charge: Charge;
}

export interface DeskOptions {
  readonly port: BreakerPort;
  readonly schedule: Schedule;
  readonly random: Random;
  readonly prefix: string;
  readonly callTimeoutMs: number;
}

/** Of each of the tables by which calls are spared. */
const MOST_KEYS = 10_000;

export class Desk {
  readonly #options: DeskOptions;
  readonly #charges: Charges;
  readonly #refusals: Refusals;
  readonly #local: LocalShare;
  readonly #blocks: Blocks;
  #closed = false;

  constructor(options: DeskOptions) {
    const { port, schedule, random, prefix } = options;
    this.#options = options;
    this.#charges = new Charges(port, random, prefix);
    this.#refusals = new Refusals(schedule.clock, MOST_KEYS);
    this.#local = new LocalShare(schedule.clock, MOST_KEYS);
    this.#blocks = new Blocks(schedule.clock, MOST_KEYS);
  }

  take(terms: Terms, charge: Charge): LimitResult | Promise<LimitResult> {
    this.#assertOpen("take()");
    checkLate(terms, charge);
    if (terms.policy.max === 0) return nothing(terms, charge.cost);
    const ask = this.#askOf(terms, charge, charge.cost);
    if (ask.atUs === null) {
      const refusal = terms.cache ? this.#refusals.standing(terms, ask.key, ask.cost) : null;
      if (refusal) return refusal;
      if (terms.block > 0 && ask.cost > 0) return this.#blocks.deal(ask) ?? this.#takeOfBlock(ask);
    }
    return this.#take(ask);
  }

  async peek(terms: Terms, charge: Charge): Promise<LimitResult> {
    this.#assertOpen("peek()");
    if (terms.policy.max === 0) return nothing(terms, charge.cost);
    const ask = this.#askOf(terms, charge, charge.cost);
    try {
      const [verdict] = await this.#together("look", [ask]);
      return resultOf(terms, verdict as Verdict);
    } catch (error) {
      return this.#outage(ask, fromCaller(error, fromCaller), false);
    }
  }

  async refund(terms: Terms, charge: Charge): Promise<LimitResult> {
    this.#assertOpen("refund()");
    if (terms.policy.max === 0) return nothing(terms, 0);
    return this.#giveBack(this.#askOf(terms, charge, -charge.cost));
  }

  /** Every one by itself, each as far as it goes. */
  async refundAll(asked: readonly Charged[]): Promise<GroupResult> {
    const results = await Promise.all(asked.map(({ terms, charge }) => this.refund(terms, charge)));
    return groupOf(results, sourceOf(results), null);
  }

  /** Of a group that was taken, to where it was: while Redis was away to the share of this process. */
  async giveBack(parts: readonly IndexPart[], took: GroupResult, costs: readonly number[]): Promise<void> {
    const there: Charged[] = [];
    for (const [place, { limit, target }] of parts.entries()) {
      const charge = { target, cost: checkCost("costs", costs[place] ?? 0), atMs: took.atMs };
      if (!took.ok || charge.cost === 0) continue;
      const { key, terms } = this.#askOf(limit.terms, charge, 0);
      if (took.results[place]?.source !== "outage") there.push({ terms, charge });
      else if (terms.outage === "local") this.#local.take(terms, key, -charge.cost);
    }
    if (there.length > 0) await this.refundAll(there);
  }

  async set(terms: Terms, charge: Charge): Promise<LimitResult> {
    this.#assertOpen("set()");
    if (terms.policy.max === 0) return nothing(terms, 0);
    const ask = this.#askOf(terms, charge, charge.cost);
    this.#blocks.forget(ask.key);
    const [verdict] = await this.#changing(ask.key, () => this.#together("set", [ask]));
    return resultOf(terms, verdict as Verdict);
  }

  async reset(terms: Terms, target: string): Promise<void> {
    this.#assertOpen("reset()");
    const ask = this.#askOf(terms, { target, cost: 0, atMs: null }, 0);
    this.#blocks.forget(ask.key);
    await this.#changing(ask.key, () => this.#options.port.command(["DEL", ask.key], this.#timeoutOf(terms)));
  }

  async reserve(terms: Terms, charge: Charge): Promise<Reservation> {
    this.#assertOpen("reserve()");
    const ask = this.#askOf(terms, charge, charge.cost);
    let took: LimitResult | null = terms.policy.max === 0 ? nothing(terms, charge.cost) : null;
    if (terms.cache) took ??= this.#refusals.standing(terms, ask.key, ask.cost);
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
      if (terms.outage !== "local") return result;
      const { remaining } = this.#local.look(terms, ask.key, 0);
      return overrunOf(this.#local.take(terms, ask.key, Math.min(-back, remaining)), -back <= remaining);
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
    for (const { terms, charge } of asked) checkLate(terms, charge);
    const asks = asked.map(({ terms, charge }) => this.#askOf(terms, charge, charge.cost));
    const refusals = asks.map(({ terms, key, cost, atUs }) => {
      if (terms.policy.max === 0) return cost > 0 ? nothing(terms, cost) : null;
      return terms.cache && atUs === null ? this.#refusals.standing(terms, key, cost) : null;
    });
    // All that refuse are to be named, so all but those that admit nothing are asked, unless all refuse.
    if (refusals.every((refusal) => refusal !== null)) return groupOf(refusals, "cache", null);
    const isBarred = ({ terms, cost }: Ask): boolean => terms.policy.max === 0 && cost > 0;
    const open = asks.filter((ask) => !isBarred(ask));
    const [answers, source, atMs] = await this.#askAll(open, open.length < asks.length ? "look" : how);
    const left = [...answers];
    const results = asks.map((ask) =>
      isBarred(ask) ? nothing(ask.terms, ask.cost) : (left.shift() as LimitResult),
    );
    return groupOf(results, source, atMs);
  }

  /** Each is charged by itself, and given back where another refuses. @throws what the first of them rejects with */
  async across(asked: readonly Charged[]): Promise<GroupResult> {
    this.#assertOpen("take()");
    for (const { terms, charge } of asked) checkLate(terms, charge);
    const answers = await Promise.allSettled(asked.map(({ terms, charge }) => this.reserve(terms, charge)));
    const taken = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (failed || taken.some(({ ok }) => !ok)) {
      // What cannot be given back runs out as every charge does.
      const back = taken.map(async (each) => (each.ok ? { ...(await each.settle(0)), ok: true } : each));
      const results = await Promise.all(
        back.map((each, place) => each.catch(() => taken[place] as Reservation)),
      );
      if (failed) throw fromCaller(failed.reason, fromCaller);
      return groupOf(results.map(resultIn), sourceOf(taken), null);
    }
    return groupOf(taken.map(resultIn), sourceOf(taken), null);
  }

  cell({ room }: Terms, result: LimitResult): Cell {
    return cellOf(room, result);
  }

  index(name: string, check: CheckParts): LimitIndex {
    return new LimitIndex(name, this.#options, check, (key) => this.#forget(key));
  }

  /** Gives back what is left of blocks, as far as that can be done at once. */
  async close(): Promise<void> {
    this.#closed = true;
    const left = this.#options.port.trouble === null ? this.#blocks.takeAll() : [];
    const back = left.map(({ ask, left: n, atUs }) =>
      this.#charges.one({ ...ask, cost: -n, atUs }, this.#timeoutOf(ask.terms)).catch(() => {}),
    );
    await Promise.all(back);
  }

  #assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} came after hf.close()`);
  }

  #askOf(terms: Terms, { target, atMs }: Charge, cost: number): Ask {
    const { type, name } = terms.policy;
    const key = limitKey(this.#options.prefix, type, name, target);
    return { terms, target, key, cost, atUs: momentUs(atMs) };
  }

  #timeoutOf({ timeoutMs }: Terms): number {
    return timeoutMs ?? this.#options.callTimeoutMs;
  }

  async #take(
    ask: Ask,
    heard: (verdict: Verdict) => void = () => {},
    timeoutMs: number = this.#timeoutOf(ask.terms),
  ): Promise<LimitResult> {
    const asking = this.#refusals.asking();
    try {
      const verdict = await this.#charges.one(ask, timeoutMs);
      heard(verdict);
      return this.#resultOf(ask, asking, verdict);
    } catch (error) {
      return this.#outage(ask, fromCaller(error, fromCaller), true);
    }
  }

  async #takeOfBlock(ask: Ask): Promise<LimitResult> {
    const { clock } = this.#options.schedule;
    const asking = this.#refusals.asking();
    const timeoutMs = this.#timeoutOf(ask.terms);
    // In whole ms: those of one turn travel together.
    const leftMs = (): number => Math.max(1, Math.ceil(timeoutMs - (clock.now().monoMs - asking.at.monoMs)));
    try {
      const found = await this.#blocks.take(
        ask,
        (ahead) => this.#charges.one(ask, leftMs(), ahead),
        (done) => this.#within(leftMs(), done),
      );
      if (found) return "verdict" in found ? this.#resultOf(ask, asking, found.verdict) : found;
    } catch (error) {
      return this.#outage(ask, fromCaller(error, fromCaller), true);
    }
    const refusal = ask.terms.cache ? this.#refusals.standing(ask.terms, ask.key, ask.cost) : null;
    return refusal ?? this.#take(ask, undefined, leftMs());
  }

  async #giveBack(ask: Ask): Promise<LimitResult> {
    const verdict = await this.#changing(ask.key, () => this.#charges.one(ask, this.#timeoutOf(ask.terms)));
    return resultOf(ask.terms, verdict);
  }

  /** What was used beyond a reservation: as far as it fits, for it is done. */
  async #chargeMore(ask: Ask, extra: number): Promise<LimitResult> {
    const ahead = { extra, holdUs: 0 };
    const verdict = await this.#changing(ask.key, () =>
      this.#charges.one({ ...ask, cost: 0 }, this.#timeoutOf(ask.terms), ahead),
    );
    return overrunOf(resultOf(ask.terms, verdict), verdict.extra === extra);
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

  #resultOf(ask: Ask, asking: Asking, verdict: Verdict): LimitResult {
    const result = resultOf(ask.terms, verdict);
    if (!result.ok && ask.terms.cache && ask.atUs === null)
      this.#refusals.note(ask.terms, ask.key, ask.cost, asking, result);
    return result;
  }

  #together(how: "take" | "look" | "set", asks: readonly Ask[]): Promise<Verdict[]> {
    const timeoutMs = Math.min(...asks.map(({ terms }) => this.#timeoutOf(terms)));
    return this.#charges.together(how, asks, timeoutMs);
  }

  async #askAll(
    asks: readonly Ask[],
    how: "take" | "look",
  ): Promise<[readonly LimitResult[], LimitSource, atMs: number | null]> {
    const asking = this.#refusals.asking();
    try {
      const verdicts = await this.#together(how, asks);
      const results = asks.map((ask, place) => this.#resultOf(ask, asking, verdicts[place] as Verdict));
      return [results, "redis", verdicts[0] ? verdicts[0].nowUs / 1_000 : null];
    } catch (error) {
      const told = fromCaller(error, fromCaller);
      const looked = asks.map((ask) => this.#outage(ask, told, false));
      if (how === "look" || !looked.every(({ ok }) => ok)) return [looked, "outage", null];
      const taken = asks.map(({ terms, key, cost }, place) =>
        terms.outage === "local" ? this.#local.take(terms, key, cost) : (looked[place] as LimitResult),
      );
      return [taken, "outage", null];
    }
  }

  /** Where Redis cannot be asked, what the limit wants then. */
  #outage({ terms, key, cost }: Ask, error: unknown, isTaken: boolean): LimitResult {
    if (!(error instanceof HoldfastError) || error instanceof ClosedError) throw error;
    const { policy, outage } = terms;
    publish("holdfast:limit:outage", () => ({ limit: policy.name, outage, error }));
    if (outage === "error") throw error;
    if (outage === "local")
      return isTaken ? this.#local.take(terms, key, cost) : this.#local.look(terms, key, cost);
    const ok = outage === "open";
    return { ok, remaining: 0, retryAfterMs: ok ? 0 : null, resetMs: null, policy, source: "outage" };
  }
}

/** What did not fit is never charged. */
function overrunOf(result: LimitResult, isAll: boolean): LimitResult {
  return { ...result, ok: isAll, retryAfterMs: isAll ? 0 : null };
}

function resultIn({ ok, remaining, retryAfterMs, resetMs, policy, source }: LimitResult): LimitResult {
  return { ok, remaining, retryAfterMs, resetMs, policy, source };
}

/** What decided: an outage anywhere, else Redis where it was asked. */
function sourceOf(results: readonly LimitResult[]): LimitSource {
  const sources = results.map(({ source }) => source);
  return (
    sources.find((source) => source === "outage") ?? sources.find((source) => source === "redis") ?? "cache"
  );
}
