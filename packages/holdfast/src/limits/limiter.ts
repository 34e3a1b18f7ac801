/**
 * Limiter: decides for all limits of a Holdfast. It answers from a refusal that is still in force, from tokens that were
 * taken ahead, and in an outage. Every other charge goes to the script (charges.ts).
 */
import {
  ClosedError,
  fromCaller,
  HoldfastError,
  InvalidArgumentError,
  tellCaller,
  UnavailableError,
} from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { limitKey } from "../redis/keys.js";
import { groupBySlot, isCrossSlot } from "../redis/slots.js";
import { publish } from "../telemetry/events.js";
import { type Ahead, type Charge, ChargeSender } from "./charges.js";
import { type CheckParts, LimitIndex } from "./limit-index.js";
import { LocalTokens } from "./local-tokens.js";
import { OutageLimiter } from "./outage-limiter.js";
import { type CallStart, RefusalCache } from "./refusal-cache.js";
import { openReservation, withoutSettle } from "./reservation.js";
import type { GroupResult, LimitResult, LimitSource, Reservation } from "./result.js";
import { checkLate, type LimitSettings, parseMoment } from "./settings.js";
import { combineSources, nothing, toGroupResult, toOverrun, toResult, type Verdict } from "./verdict.js";

export type LimiterContext = Pick<
  RedisContext,
  "breakerPort" | "schedule" | "random" | "prefix" | "callTimeoutMs"
>;

/** Maximum number of entries in each local cache. */
const MOST_KEYS = 10_000;

export class Limiter {
  readonly #context: LimiterContext;
  readonly #sender: ChargeSender;
  readonly #refusals: RefusalCache;
  readonly #local: OutageLimiter;
  readonly #tokens: LocalTokens;
  #closed = false;

  constructor(context: LimiterContext) {
    const { breakerPort, schedule, random, prefix } = context;
    this.#context = context;
    this.#sender = new ChargeSender(breakerPort, random, prefix);
    this.#refusals = new RefusalCache(schedule.clock, MOST_KEYS);
    this.#local = new OutageLimiter(schedule.clock, MOST_KEYS);
    this.#tokens = new LocalTokens(schedule.clock, MOST_KEYS);
  }

  /** @param atMs when it happened; null: now. @throws {InvalidArgumentError} */
  charge(settings: LimitSettings, target: string, cost: number, atMs: number | null): Charge {
    const { type, name } = settings.policy;
    const key = limitKey(this.#context.prefix, type, name, target);
    return { settings, target, key, cost, atUs: parseMoment(atMs) };
  }

  take(charge: Charge): LimitResult | Promise<LimitResult> {
    this.#assertOpen("take()");
    const { settings, cost, atUs } = charge;
    checkLate(settings, atUs);
    if (settings.policy.max === 0) return nothing(settings, cost);
    if (atUs !== null) return this.#take(charge);
    const refusal = this.#refusal(charge);
    if (refusal) return refusal;
    if (settings.block === 0 || cost === 0) return this.#take(charge);
    return this.#tokens.deal(charge) ?? this.#takeAhead(charge);
  }

  async peek(charge: Charge): Promise<LimitResult> {
    this.#assertOpen("peek()");
    const { settings, cost } = charge;
    if (settings.policy.max === 0) return nothing(settings, cost);
    try {
      const [verdict] = await this.#together("look", [charge]);
      return toResult(settings, verdict as Verdict);
    } catch (error) {
      return this.#inOutage(charge, fromCaller(error, fromCaller), "look");
    }
  }

  async refund(charge: Charge): Promise<LimitResult> {
    this.#assertOpen("refund()");
    if (charge.settings.policy.max === 0) return nothing(charge.settings, 0);
    return this.#refund({ ...charge, cost: -charge.cost });
  }

  /** Refunds every charge by itself, each at most what is used. */
  async refundAll(charges: readonly Charge[]): Promise<GroupResult> {
    return ofEach(charges.map((charge) => this.refund(charge)));
  }

  /** Refunds charges of a group to where they were taken: Redis, or the share of this process in an outage. */
  async giveBack(charges: readonly Charge[], took: GroupResult): Promise<void> {
    const fromRedis: Charge[] = [];
    for (const [place, charge] of charges.entries()) {
      const { settings, key, cost } = charge;
      if (!took.ok || cost === 0) continue;
      if (took.results[place]?.source !== "outage") fromRedis.push(charge);
      else if (settings.outage === "local") this.#local.take(settings, key, -cost);
    }
    if (fromRedis.length > 0) await this.refundAll(fromRedis);
  }

  async set(charge: Charge): Promise<LimitResult> {
    this.#assertOpen("set()");
    const { settings, key } = charge;
    if (settings.policy.max === 0) return nothing(settings, 0);
    this.#tokens.forget(key);
    const [verdict] = await this.#changing(key, () => this.#together("set", [charge]));
    return toResult(settings, verdict as Verdict);
  }

  async reset({ settings, key }: Charge): Promise<void> {
    this.#assertOpen("reset()");
    this.#tokens.forget(key);
    await this.#changing(key, () =>
      this.#context.breakerPort.command(["DEL", key], this.#timeoutOf(settings)),
    );
  }

  async reserve(charge: Charge): Promise<Reservation> {
    this.#assertOpen("reserve()");
    const { settings, cost } = charge;
    const known = settings.policy.max === 0 ? nothing(settings, cost) : this.#refusal(charge);
    let takenAtUs: number | null = null;
    const result =
      known ??
      (await tellCaller(
        this.#take(charge, this.#timeoutOf(settings), (verdict) => {
          takenAtUs = verdict.nowUs;
        }),
      ));
    return openReservation(result, async (actual) => {
      const isCounted = takenAtUs !== null || settings.outage === "local";
      if (!result.ok || actual === cost || !isCounted) return result;
      return this.#settle(charge, takenAtUs, actual);
    });
  }

  /** Takes all charges, or none of them. */
  async all(charges: readonly Charge[], how: "take" | "look"): Promise<GroupResult> {
    this.#assertOpen(how === "take" ? "take()" : "peek()");
    for (const { settings, atUs } of charges) checkLate(settings, atUs);
    const refusals = charges.map((charge) => {
      const { settings, cost, atUs } = charge;
      if (settings.policy.max === 0) return cost > 0 ? nothing(settings, cost) : null;
      return atUs === null ? this.#refusal(charge) : null;
    });
    if (refusals.every((refusal) => refusal !== null)) return toGroupResult(refusals, "cache", null);
    // The result names every limit that refuses. So Redis is asked about all of them, but those that admit nothing.
    const isBarred = ({ settings, cost }: Charge): boolean => settings.policy.max === 0 && cost > 0;
    const open = charges.filter((charge) => !isBarred(charge));
    const answers = await this.#askAll(open, open.length < charges.length ? "look" : how);
    const left = [...answers.results];
    const results = charges.map((charge) =>
      isBarred(charge) ? nothing(charge.settings, charge.cost) : (left.shift() as LimitResult),
    );
    return toGroupResult(results, answers.source, answers.atMs);
  }

  /** Takes each charge by itself, and refunds it where another is refused. @throws what the first of them rejects with */
  async across(charges: readonly Charge[]): Promise<GroupResult> {
    this.#assertOpen("take()");
    for (const { settings, atUs } of charges) checkLate(settings, atUs);
    const answers = await Promise.allSettled(charges.map((charge) => this.reserve(charge)));
    const taken = answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
    const failed = answers.find((answer) => answer.status === "rejected");
    if (!failed && taken.every(({ ok }) => ok))
      return toGroupResult(taken.map(withoutSettle), combineSources(taken), null);
    // A charge that cannot be refunded runs out as every charge does.
    const results = await Promise.all(
      taken.map(async (each) =>
        each.ok
          ? each.settle(0).then(
              (settled) => ({ ...settled, ok: true }),
              () => each,
            )
          : each,
      ),
    );
    if (failed) throw fromCaller(failed.reason, fromCaller);
    return toGroupResult(results.map(withoutSettle), combineSources(taken), null);
  }

  /** Looks at each charge by itself. */
  async peekAcross(charges: readonly Charge[]): Promise<GroupResult> {
    return ofEach(charges.map((charge) => this.peek(charge)));
  }

  index(name: string, check: CheckParts): LimitIndex {
    return new LimitIndex(name, this.#context, check, (key) => {
      this.#refusals.forget(key);
      this.#tokens.forget(key);
    });
  }

  /** Refunds the tokens that were taken ahead and not dealt out, as far as that can be done at once. */
  async close(): Promise<void> {
    this.#closed = true;
    const left = this.#context.breakerPort.trouble === null ? this.#tokens.takeAll() : [];
    await Promise.all(
      left.map(({ charge, left: cost, atUs }) =>
        this.#one({ ...charge, cost: -cost, atUs }, this.#timeoutOf(charge.settings)).catch(() => {}),
      ),
    );
  }

  #assertOpen(what: string): void {
    if (this.#closed) throw new ClosedError(`${what} came after hf.close()`);
  }

  #timeoutOf({ timeoutMs }: LimitSettings): number {
    return timeoutMs ?? this.#context.callTimeoutMs;
  }

  /** A refusal that is still in force. */
  #refusal({ settings, key, cost }: Charge): LimitResult | null {
    return settings.cache ? this.#refusals.standing(settings, key, cost) : null;
  }

  /** No async function is on the way, so the stack of an error that it rejects with does not name the caller yet. */
  #take(
    charge: Charge,
    timeoutMs: number = this.#timeoutOf(charge.settings),
    onVerdict?: (verdict: Verdict) => void,
  ): Promise<LimitResult> {
    const start = this.#refusals.start();
    return new Promise((resolve, reject) =>
      this.#sender.one(charge, timeoutMs, null, {
        answered: (verdict) => {
          onVerdict?.(verdict);
          resolve(this.#noteResult(charge, start, verdict));
        },
        failed: (error) => {
          try {
            resolve(this.#inOutage(charge, error, "take"));
          } catch (told) {
            reject(told);
          }
        },
      }),
    );
  }

  #one(charge: Charge, timeoutMs: number, ahead: Ahead | null = null): Promise<Verdict> {
    return new Promise((answered, failed) =>
      this.#sender.one(charge, timeoutMs, ahead, { answered, failed }),
    );
  }

  /** Takes the charge out of tokens that are fetched with it, or that another call is fetching. */
  async #takeAhead(charge: Charge): Promise<LimitResult> {
    const { clock } = this.#context.schedule;
    const start = this.#refusals.start();
    const timeoutMs = this.#timeoutOf(charge.settings);
    // In whole milliseconds, so that the charges of one turn travel together.
    const leftMs = (): number => Math.max(1, Math.ceil(timeoutMs - (clock.now().monoMs - start.at.monoMs)));
    try {
      const found = await this.#tokens.take(
        charge,
        (ahead) => this.#one(charge, leftMs(), ahead),
        (done) => this.#within(leftMs(), done),
      );
      if (found) return "verdict" in found ? this.#noteResult(charge, start, found.verdict) : found;
    } catch (error) {
      return this.#inOutage(charge, fromCaller(error, fromCaller), "take");
    }
    return this.#refusal(charge) ?? this.#take(charge, leftMs());
  }

  /** @param charge with a negative cost */
  async #refund(charge: Charge): Promise<LimitResult> {
    const { settings, key } = charge;
    const verdict = await this.#changing(key, () => this.#one(charge, this.#timeoutOf(settings)));
    return toResult(settings, verdict);
  }

  /** @param takenAtUs when Redis took the charge; null: it was taken in an outage */
  async #settle(charge: Charge, takenAtUs: number | null, actual: number): Promise<LimitResult> {
    const { settings, key } = charge;
    const more = actual - charge.cost;
    if (takenAtUs !== null)
      return more > 0
        ? this.#chargeMore(charge, more)
        : this.#refund({ ...charge, cost: more, atUs: takenAtUs });
    const { remaining } = this.#local.look(settings, key, 0);
    return toOverrun(this.#local.take(settings, key, Math.min(more, remaining)), more <= remaining);
  }

  /** Charges what was used beyond a reservation. It is used already, so it is charged as far as it fits. */
  async #chargeMore(charge: Charge, extra: number): Promise<LimitResult> {
    const { settings, key } = charge;
    const verdict = await this.#changing(key, () =>
      this.#one({ ...charge, cost: 0 }, this.#timeoutOf(settings), { extra, holdUs: 0 }),
    );
    return toOverrun(toResult(settings, verdict), verdict.extra === extra);
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

  /** @throws {UnavailableError} it takes longer */
  #within<Value>(timeoutMs: number, work: Promise<Value>): Promise<Value> {
    const { schedule } = this.#context;
    return new Promise((resolve, reject) => {
      const alarm = schedule.after(timeoutMs, () =>
        reject(new UnavailableError(`the answer to another call was not there within ${timeoutMs} ms`)),
      );
      void work.then(resolve, reject).finally(() => schedule.cancel(alarm));
    });
  }

  #noteResult({ settings, key, cost, atUs }: Charge, start: CallStart, verdict: Verdict): LimitResult {
    const result = toResult(settings, verdict);
    if (!result.ok && settings.cache && atUs === null)
      this.#refusals.note(settings, key, cost, start, result);
    return result;
  }

  #together(how: "take" | "look" | "set", charges: readonly Charge[]): Promise<Verdict[]> {
    const timeoutMs = Math.min(...charges.map(({ settings }) => this.#timeoutOf(settings)));
    return this.#sender.together(how, charges, timeoutMs);
  }

  /** @throws {InvalidArgumentError} a server of a cluster takes no charges of several slots together */
  async #askAll(charges: readonly Charge[], how: "take" | "look"): Promise<GroupAnswer> {
    const { breakerPort } = this.#context;
    if (groupBySlot(charges, ({ key }) => breakerPort.slotOf(key)).length > 1) throw acrossSlots();
    const start = this.#refusals.start();
    try {
      const verdicts = await this.#together(how, charges);
      const results = charges.map((charge, place) =>
        this.#noteResult(charge, start, verdicts[place] as Verdict),
      );
      return { results, source: "redis", atMs: verdicts[0] ? verdicts[0].nowUs / 1_000 : null };
    } catch (error) {
      if (isCrossSlot(error)) throw acrossSlots();
      const told = fromCaller(error, fromCaller);
      const looked = charges.map((charge) => this.#inOutage(charge, told, "look"));
      const isTaken = how === "take" && looked.every(({ ok }) => ok);
      const results = looked.map((result, place) => {
        const { settings, key, cost } = charges[place] as Charge;
        return isTaken && settings.outage === "local" ? this.#local.take(settings, key, cost) : result;
      });
      return { results, source: "outage", atMs: null };
    }
  }

  /** Redis cannot be asked: the limit's `outage` decides. @throws the error, where it is "error" */
  #inOutage({ settings, key, cost }: Charge, error: unknown, how: "take" | "look"): LimitResult {
    if (!(error instanceof HoldfastError) || error instanceof ClosedError) throw error;
    const { policy, outage } = settings;
    publish("holdfast:limit:outage", () => ({ limit: policy.name, outage, error }));
    if (outage === "error") throw error;
    if (outage === "local") return this.#local[how](settings, key, cost);
    const ok = outage === "open";
    return { ok, remaining: 0, retryAfterMs: ok ? 0 : null, resetMs: null, policy, source: "outage" };
  }
}

async function ofEach(asked: readonly Promise<LimitResult>[]): Promise<GroupResult> {
  const results = await Promise.all(asked);
  return toGroupResult(results, combineSources(results), null);
}

function acrossSlots(): InvalidArgumentError {
  return new InvalidArgumentError(
    "parts",
    "have targets in several slots of a cluster, where no script reaches all of them: use hf.limits.across()",
  );
}

interface GroupAnswer {
  readonly results: readonly LimitResult[];
  readonly source: LimitSource;
  readonly atMs: number | null;
}
