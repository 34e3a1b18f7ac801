/**
 * Desk: where all limits of a Holdfast are asked. What is asked for in one turn of the event loop goes to Redis as one
 * script, each charge for itself; a refusal that stands, a block that was taken before, and an outage are answered here.
 */
import { ServerError } from "../errors/refusals.js";
import {
  ClosedError,
  HoldfastError,
  IndeterminateError,
  InvalidArgumentError,
  tellCaller,
} from "../errors.js";
import { limitKey } from "../redis/keys.js";
import type { RedisPort, Reply } from "../redis/port.js";
import { replyRow } from "../redis/reply.js";
import { publish } from "../telemetry/events.js";
import type { Schedule } from "../time/schedule.js";
import { Tick } from "../time/tick.js";
import { Blocks } from "./blocks.js";
import { script } from "./charge.lua.js";
import { Gate } from "./gate.js";
import { LimitIndex } from "./limit-index.js";
import { LocalShare } from "./local-share.js";
import { Refusals } from "./refusals.js";
import type { GroupResult, LimitResult, Reservation } from "./result.js";
import type { Terms } from "./terms.js";

export interface Charge {
  readonly target: string;
  readonly cost: number;
  readonly atMs: number | null;
}

export interface DeskOptions {
  readonly port: RedisPort;
  readonly schedule: Schedule;
  readonly prefix: string;
  readonly callTimeoutMs: number;
}

type How = "all" | "each" | "look" | "set";

interface Ask {
  readonly terms: Terms;
  readonly key: string;
  readonly cost: number;
  readonly atUs: number | null;
  /** Instead of that of the terms. */
  readonly room?: number;
}

/** What the script says of one charge. */
interface Verdict {
  readonly ok: boolean;
  readonly remaining: number;
  readonly retryUs: number;
  readonly resetUs: number;
  /** The server's clock. */
  readonly nowUs: number;
}

interface Call extends Ask {
  readonly limitMs: number;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: unknown) => void;
}

/** Charges that travel together: while the server works on some, the next are made. */
const CHUNK = 16;
const MOST_REFUSALS = 10_000;
const perVerdict = 4;

export class Desk {
  readonly #options: DeskOptions;
  readonly #gate: Gate;
  readonly #refusals: Refusals;
  readonly #local: LocalShare;
  readonly #blocks: Blocks<Ask>;
  readonly #tick = new Tick<Call>(CHUNK, (calls) => this.#send(calls));
  #closed = false;

  constructor(options: DeskOptions) {
    const { port, schedule, callTimeoutMs } = options;
    this.#options = options;
    this.#gate = new Gate(port, schedule, callTimeoutMs);
    this.#refusals = new Refusals(schedule.clock, MOST_REFUSALS);
    this.#local = new LocalShare(schedule.clock, MOST_REFUSALS);
    this.#blocks = new Blocks<Ask>(schedule.clock, MOST_REFUSALS);
  }

  take(terms: Terms, charge: Charge): LimitResult | Promise<LimitResult> {
    const { max } = terms.policy;
    if (this.#closed) throw new ClosedError("take() came after hf.close()");
    if (max === 0) return nothing(terms, charge.cost);
    const ask = this.#askOf(terms, charge, charge.cost);
    if (terms.cache) {
      const refusal = this.#refusals.standing(ask.key, charge.cost);
      if (refusal) return refusal;
    }
    if (terms.block > 0 && charge.atMs === null && charge.cost > 0) return this.#takeOfBlock(ask);
    return this.#answer(ask, () => this.#one(ask));
  }

  async peek(terms: Terms, charge: Charge): Promise<LimitResult> {
    if (terms.policy.max === 0) return nothing(terms, charge.cost);
    const ask = this.#askOf(terms, charge, charge.cost);
    return this.#answer(ask, async () => resultOf(terms, (await this.#script("look", [ask]))[0] as Verdict));
  }

  async refund(terms: Terms, charge: Charge): Promise<LimitResult> {
    if (terms.policy.max === 0) return nothing(terms, 0);
    const ask = this.#askOf(terms, charge, -charge.cost);
    this.#refusals.forget(ask.key);
    return resultOf(terms, await this.#call(ask));
  }

  /** Every one in one script, each as far as it goes. */
  async refundAll(asked: readonly { readonly terms: Terms; readonly charge: Charge }[]): Promise<void> {
    const asks = asked
      .filter(({ terms }) => terms.policy.max > 0)
      .map(({ terms, charge }) => this.#askOf(terms, charge, -charge.cost));
    for (const { key } of asks) this.#refusals.forget(key);
    if (asks.length > 0) await this.#script("all", asks);
  }

  async set(terms: Terms, charge: Charge): Promise<LimitResult> {
    if (terms.policy.max === 0) return nothing(terms, 0);
    const ask = this.#askOf(terms, charge, charge.cost);
    this.#forget(ask.key);
    return resultOf(terms, (await this.#script("set", [ask]))[0] as Verdict);
  }

  async reset(terms: Terms, target: string): Promise<void> {
    const { prefix, callTimeoutMs, port } = this.#options;
    const key = limitKey(prefix, terms.policy.type, terms.policy.name, target);
    this.#forget(key);
    await tellCaller(port.command(["DEL", key], terms.timeoutMs ?? callTimeoutMs));
  }

  async reserve(terms: Terms, charge: Charge): Promise<Reservation> {
    const ask = this.#askOf(terms, charge, charge.cost);
    let nowUs: number | null = null;
    const took =
      terms.policy.max === 0
        ? nothing(terms, charge.cost)
        : await this.#answer(ask, async () => {
            const verdict = await this.#call(ask);
            nowUs = verdict.nowUs;
            return resultOf(terms, verdict);
          });
    let settled: Promise<LimitResult> | null = null;
    const settle = async (actual: number): Promise<LimitResult> => {
      const back = charge.cost - actual;
      if (!took.ok || nowUs === null || back === 0) return took;
      this.#refusals.forget(ask.key);
      return resultOf(terms, await this.#call({ ...ask, cost: -back, atUs: nowUs }));
    };
    return {
      ...took,
      settle(actual) {
        if (!Number.isInteger(actual) || actual < 0 || actual > charge.cost)
          throw new InvalidArgumentError("actual", `must be a whole number from 0 to ${charge.cost}`);
        settled ??= settle(actual);
        return settled;
      },
    };
  }

  /** Every one is charged or none. */
  async all(
    asked: readonly { readonly terms: Terms; readonly charge: Charge }[],
    how: "all" | "look",
  ): Promise<GroupResult> {
    const asks = asked.map(({ terms, charge }) => this.#askOf(terms, charge, charge.cost));
    const barred = asks.map(({ terms, cost }) =>
      terms.policy.max === 0 && cost > 0 ? nothing(terms, cost) : null,
    );
    const since = this.#options.schedule.clock.now();
    const isBarred = barred.some((result) => result !== null);
    const open = asks.filter((_, place) => barred[place] === null);
    let verdicts: readonly LimitResult[];
    let source: LimitResult["source"] = "redis";
    try {
      await this.#pass(this.#limitOf(asks));
      const answers = open.length === 0 ? [] : await this.#script(isBarred ? "look" : how, open);
      this.#gate.answered();
      verdicts = open.map(({ terms }, place) => resultOf(terms, answers[place] as Verdict));
    } catch (error) {
      source = "outage";
      verdicts = open.map((ask) => this.#outage(ask, error));
    }
    const left = [...verdicts];
    const results = barred.map((result) => result ?? (left.shift() as LimitResult));
    for (const [place, result] of results.entries()) {
      const { terms, key, cost } = asks[place] as Ask;
      if (!result.ok && source === "redis" && terms.cache) this.#refusals.note(key, cost, since, result);
    }
    return groupOf(results, source);
  }

  index(name: string): LimitIndex {
    return new LimitIndex(name, this.#options, (key) => this.#forget(key));
  }

  /** Gives back what is left of blocks, as far as that can be done at once. */
  async close(): Promise<void> {
    this.#closed = true;
    const left = this.#blocks.takeAll();
    await Promise.all(left.map(({ ask, left: n }) => this.#call({ ...ask, cost: -n }).catch(() => {})));
  }

  #askOf(terms: Terms, { target, atMs }: Charge, cost: number): Ask {
    const atUs = atMs === null ? null : Math.round(atMs * 1_000);
    return {
      terms,
      key: limitKey(this.#options.prefix, terms.policy.type, terms.policy.name, target),
      cost,
      atUs,
    };
  }

  #takeOfBlock(ask: Ask): Promise<LimitResult> {
    const { terms, cost } = ask;
    const room = this.#blocks.roomOf(terms);
    return this.#blocks.take(ask, async () => {
      let extra = 0;
      const result = await this.#answer(ask, async () => {
        const more = Math.min(terms.block, room - cost);
        if (more <= 0) return this.#one(ask);
        const verdict = await this.#call({ ...ask, cost: cost + more, room });
        if (!verdict.ok) return this.#one(ask);
        extra = more;
        return resultOf(terms, verdict);
      });
      return { result, extra };
    });
  }

  async #one(ask: Ask): Promise<LimitResult> {
    const since = this.#options.schedule.clock.now();
    const verdict = await this.#call(ask);
    const result = resultOf(ask.terms, verdict);
    if (!result.ok && ask.terms.cache && ask.atUs === null)
      this.#refusals.note(ask.key, ask.cost, since, result);
    return result;
  }

  #forget(key: string): void {
    this.#refusals.forget(key);
    this.#blocks.forget(key);
  }

  /** What Redis says, or where it cannot be asked, what the limit wants then. */
  async #answer(ask: Ask, work: () => Promise<LimitResult>): Promise<LimitResult> {
    try {
      await this.#pass(this.#limitOf([ask]));
      const result = await work();
      this.#gate.answered();
      return result;
    } catch (error) {
      return this.#outage(ask, error);
    }
  }

  async #pass(limitMs: number): Promise<void> {
    const trouble = this.#gate.check(limitMs);
    if (trouble === null) return;
    const error = await trouble;
    if (error) throw error;
  }

  #outage({ terms, key, cost }: Ask, error: unknown): LimitResult {
    if (!(error instanceof HoldfastError) || error instanceof ClosedError) throw error;
    const { policy, outage } = terms;
    if (error instanceof IndeterminateError) this.#gate.failed(error);
    publish("holdfast:limit:outage", () => ({ limit: policy.name, outage, error }));
    if (outage === "error") throw error;
    if (outage === "local") return this.#local.take(terms, key, cost);
    const ok = outage === "open";
    return { ok, remaining: 0, retryAfterMs: ok ? 0 : null, resetMs: null, policy, source: "outage" };
  }

  #limitOf(asks: readonly Ask[]): number {
    const { callTimeoutMs } = this.#options;
    return Math.min(...asks.map(({ terms }) => terms.timeoutMs ?? callTimeoutMs));
  }

  #call(ask: Ask): Promise<Verdict> {
    return tellCaller(
      new Promise((resolve, reject) => {
        this.#tick.add({ ...ask, limitMs: this.#limitOf([ask]), resolve, reject });
      }),
    );
  }

  /** Each for itself; those who wait for less long apart from the others. */
  #send(calls: readonly Call[]): void {
    const byLimit = new Map<number, Call[]>();
    for (const call of calls) {
      const alike = byLimit.get(call.limitMs);
      if (alike) alike.push(call);
      else byLimit.set(call.limitMs, [call]);
    }
    for (const [limitMs, alike] of byLimit)
      this.#run("each", alike, limitMs).then(
        (reply) => {
          for (const [place, call] of alike.entries()) {
            const problem = reply[1 + place * perVerdict];
            if (typeof problem === "string") call.reject(new ServerError(problem));
            else call.resolve(verdictOf(reply, place));
          }
        },
        (error: unknown) => {
          for (const call of alike) call.reject(error);
        },
      );
  }

  async #script(how: How, asks: readonly Ask[]): Promise<Verdict[]> {
    const reply = await tellCaller(this.#run(how, asks, this.#limitOf(asks)));
    return asks.map((_, place) => verdictOf(reply, place));
  }

  async #run(how: How, asks: readonly Ask[], limitMs: number): Promise<Reply[]> {
    const words: string[] = [how];
    for (const { terms, cost, atUs, room } of asks) {
      const { policy, perUs, unitUs } = terms;
      const fits = room ?? terms.room;
      words.push(
        policy.type,
        `${cost}`,
        `${policy.max}`,
        `${perUs}`,
        `${fits}`,
        `${unitUs}`,
        atUs === null ? "" : `${atUs}`,
      );
    }
    const keys = asks.map(({ key }) => key);
    const reply = await this.#options.port.script(script, keys, words, limitMs);
    return replyRow(reply, 1 + asks.length * perVerdict);
  }
}

function verdictOf(reply: readonly Reply[], place: number): Verdict {
  const [ok, remaining, retryUs, resetUs] = reply
    .slice(1 + place * perVerdict, 1 + (place + 1) * perVerdict)
    .map(Number);
  return {
    ok: ok === 1,
    remaining: remaining as number,
    retryUs: retryUs as number,
    resetUs: resetUs as number,
    nowUs: Number(reply[0]),
  };
}

function resultOf({ policy }: Terms, { ok, remaining, retryUs, resetUs }: Verdict): LimitResult {
  return {
    ok,
    remaining,
    retryAfterMs: msOf(retryUs),
    resetMs: msOf(resetUs),
    policy,
    source: "redis",
  };
}

/** Rather a moment later than too early. */
function msOf(us: number): number | null {
  return us < 0 ? null : Math.ceil(us / 1_000);
}

/** Of a limit that admits nothing: Redis is not asked. */
function nothing({ policy }: Terms, cost: number): LimitResult {
  const ok = cost <= 0;
  return { ok, remaining: 0, retryAfterMs: ok ? 0 : null, resetMs: 0, policy, source: "redis" };
}

function groupOf(results: readonly LimitResult[], source: LimitResult["source"]): GroupResult {
  const longest = (of: (result: LimitResult) => number | null): number | null =>
    results
      .map(of)
      .reduce<number | null>(
        (most, each) => (most === null || each === null ? null : Math.max(most, each)),
        0,
      );
  return {
    ok: results.every(({ ok }) => ok),
    remaining: Math.min(...results.map(({ remaining }) => remaining)),
    retryAfterMs: longest(({ retryAfterMs }) => retryAfterMs),
    resetMs: longest(({ resetMs }) => resetMs),
    violated: results.filter(({ ok }) => !ok).map(({ policy }) => policy),
    results,
    source,
  };
}
