/**
 * The core of every middleware. It decides whether a request may go on, which fields its response has, and what is counted
 * once the outcome is known. It knows no framework.
 */
import { InvalidArgumentError } from "../errors.js";
import type { GuardVerdict } from "../guards/guard-settings.js";
import type { Limit } from "../limits/limit.js";
import type { Limits } from "../limits/limits.js";
import type { LimitResult } from "../limits/result.js";
import { type Clock, systemClock } from "../time/clock.js";
import { ipKey, NoAddressError, otherName } from "./address.js";
import { type Answer, answerOf, checkAnswer, isClosed, type Refusal } from "./answer.js";
import { checkAddress, clientAddress } from "./client-address.js";
import type { Field } from "./fields.js";
import { MisuseReports } from "./misuse.js";
import { type Count, checkOwner, type Key, type RateLimitOptions, type Rules, rulesOf } from "./options.js";
import { ResponseHeaders } from "./response-headers.js";
import { countedCost, settleAll } from "./settlement.js";
import { checkKey, describe, targetOf } from "./target.js";

/** A request, as the shell of a framework describes it. */
export interface Incoming<Raw> {
  readonly method: string;
  /**
   * The address of the connected peer. null: it is no longer known, because the client has hung up, and a rule by the
   * address refuses the request. A text that is no address (for a Unix socket) is counted under "unknown".
   */
  readonly address: string | null;
  header(name: string): string | null;
  /** An object that is the same for every middleware that sees this request. */
  readonly identity: object;
  /** The framework's own request, for the caller's functions. */
  readonly raw: Raw;
}

export interface Admission {
  /** The answer to a refused request; null where the request goes on. */
  readonly answer: Answer | null;
  /** Fields for the response, refused or not. Write them as late as possible: a middleware further in may change them. */
  readonly fields: readonly Field[];
  /** Call it once the status of the response is known, or with null if there will be no response. Never rejects. */
  readonly settle: ((status: number | null) => Promise<void>) | null;
}

/** A Holdfast, as far as a middleware needs it. */
export interface HasLimits {
  readonly limits: Limits;
}

/** A charge of one limit for this request, before it is sent. */
interface PlannedCharge<Raw> {
  readonly limit: Limit;
  readonly target: string;
  readonly cost: number;
  readonly count: Count<Raw>;
}

interface Taken {
  readonly results: readonly LimitResult[];
  readonly ok: boolean;
  readonly retryAfterMs: number | null;
  /** Refunds a part of each charge, in their order. */
  readonly giveBack: (costs: readonly number[]) => Promise<unknown>;
}

type GuardSubject = { readonly subject: string; readonly route: string; readonly listedAs: string };

interface Who {
  readonly target: string;
  /** Another name that a list may have: one address of a network, or a key that is too long. */
  readonly given: string;
}

const PASS: Admission = { answer: null, fields: [], settle: null };

/** The charges of each request, by Holdfast, to notice one that is charged twice. */
const charged = new WeakMap<object, Map<HasLimits, Set<string>>>();

export class RequestLimiter<Raw> {
  readonly #hf: HasLimits;
  readonly #rules: Rules<Raw>;
  readonly #clock: Clock;
  readonly #misuse = new MisuseReports();

  /** @throws {InvalidArgumentError} */
  constructor(hf: HasLimits, options: RateLimitOptions<Raw>, clock: Clock = systemClock) {
    this.#hf = hf;
    this.#rules = rulesOf(options);
    checkOwner(hf, this.#rules.limits);
    this.#clock = clock;
  }

  /** Whether a rule goes by the client's address. */
  get needsAddress(): boolean {
    const { limits, guard } = this.#rules;
    return [...limits, ...(guard ? [guard] : [])].some(({ key }) => key === "ip");
  }

  /** @throws what the caller's functions throw, and what `outage: "error"` lets through; always an object */
  async admit(request: Incoming<Raw>): Promise<Admission> {
    try {
      return (await this.#rules.skip(request.raw)) ? PASS : await this.#answered(request);
    } catch (error) {
      throw thrown(error);
    }
  }

  async #answered(request: Incoming<Raw>): Promise<Admission> {
    try {
      return await this.#decide(request);
    } catch (error) {
      if (!(error instanceof NoAddressError)) throw error;
      return this.#refuse(request, { reason: "no-address", verdict: null, results: [], retryAfterMs: null });
    }
  }

  async #decide(request: Incoming<Raw>): Promise<Admission> {
    const { guard } = this.#rules;
    const key = await this.#guardKey(request);
    const verdict = key && guard ? await guardVerdict(guard, key) : null;
    if (verdict && !verdict.ok) return this.#refuse(request, { verdict, results: [] });
    const charges = await this.#charges(request);
    const taken = charges.length === 0 ? null : await this.#take(charges);
    if (taken && !taken.ok) return this.#refuse(request, { verdict, ...taken });
    return {
      answer: null,
      fields: this.#fields(request, taken?.results ?? []),
      settle: this.#settlement(request, charges, taken, key),
    };
  }

  async #guardKey(request: Incoming<Raw>): Promise<GuardSubject | null> {
    const { guard } = this.#rules;
    if (!guard) return null;
    const who = await this.#whoseIs(guard.key, request);
    if (who === null) return null;
    const route = await routeOf(guard.route, request.raw);
    return { subject: who.target, listedAs: who.given, route };
  }

  async #charges(request: Incoming<Raw>): Promise<PlannedCharge<Raw>[]> {
    const charges: PlannedCharge<Raw>[] = [];
    for (const { limit, key, cost, count } of this.#rules.limits) {
      const who = await this.#whoseIs(key, request);
      if (who === null) continue;
      const { target } = who;
      const charge = {
        limit,
        target,
        count,
        cost: typeof cost === "number" ? cost : await cost(request.raw),
      };
      // Two rules may lead to the same limit and target. Those are one count, and are charged once: the larger cost.
      const place = charges.findIndex((each) => each.limit === limit && each.target === target);
      const known = charges[place];
      if (known && known.cost < charge.cost) charges[place] = charge;
      if (known) continue;
      charges.push(charge);
      this.#noticeTwice(request, limit, target);
    }
    return charges;
  }

  async #whoseIs(key: Key<Raw>, request: Incoming<Raw>): Promise<Who | null> {
    if (key !== "ip") {
      const given = checkKey("key", await key(request.raw));
      return given === null ? null : { target: targetOf(given), given };
    }
    const { ipv6Prefix, isTrusted, isTrustSaid } = this.#rules;
    const forwardedFor = request.header("x-forwarded-for");
    if (forwardedFor !== null && !isTrustSaid) this.#misuse.publish("forwarded-ignored");
    const address = clientAddress(checkAddress(request.address), forwardedFor, isTrusted);
    if (address === null) throw new NoAddressError();
    if (forwardedFor === null && isTrusted(request.address, 0)) this.#misuse.publish("forwarded-missing");
    const target = ipKey(address, ipv6Prefix);
    return { target, given: otherName(address) ?? target };
  }

  async #take(charges: readonly PlannedCharge<Raw>[]): Promise<Taken> {
    const [first] = charges;
    if (first && charges.length === 1) {
      const { limit, target, cost, count } = first;
      if (count === "all") {
        const result = await limit.take(target, cost);
        return { ...result, results: [result], giveBack: async () => {} };
      }
      const reserved = await limit.reserve(target, cost);
      return { ...reserved, results: [reserved], giveBack: ([back = 0]) => reserved.settle(cost - back) };
    }
    const group = this.#hf.limits.all(charges.map(({ limit, target, cost }) => limit.of(target, { cost })));
    const taken = await group.take();
    return { ...taken, giveBack: (costs) => group.giveBack(taken, costs) };
  }

  async #refuse(
    request: Incoming<Raw>,
    {
      verdict,
      results,
      retryAfterMs,
      reason = reasonOf(verdict, results),
    }: Pick<Refusal<Raw>, "verdict" | "results"> & Partial<Pick<Refusal<Raw>, "reason" | "retryAfterMs">>,
  ): Promise<Admission> {
    const refusal: Refusal<Raw> = {
      reason,
      retryAfterMs: retryAfterMs === undefined ? (verdict?.retryAfterMs ?? null) : retryAfterMs,
      results,
      verdict,
      request: request.raw,
    };
    const usual = answerOf(refusal, request.method, request.header("accept"));
    const answer = checkAnswer(await this.#rules.answer(usual, refusal), usual);
    return { answer, fields: this.#fields(request, results), settle: null };
  }

  #fields({ identity }: Incoming<Raw>, results: readonly LimitResult[]): readonly Field[] {
    const { styles } = this.#rules;
    if (results.length === 0) return [];
    return ResponseHeaders.of(identity).add(styles, results, this.#clock.now().wallMs);
  }

  #settlement(
    { raw }: Incoming<Raw>,
    charges: readonly PlannedCharge<Raw>[],
    taken: Taken | null,
    key: GuardSubject | null,
  ): Admission["settle"] {
    const { guard } = this.#rules;
    const guardCount = guard && key && guard.count !== "all" ? guard.count : null;
    if (guardCount === null && charges.every(({ count }) => count === "all")) return null;
    const refund = async (status: number | null): Promise<void> => {
      const counted = charges.map(({ count, cost }) => countedCost(count, cost, status, raw));
      const costs = (await Promise.all(counted)).map((cost, at) => (charges[at]?.cost ?? 0) - cost);
      if (taken && costs.some((cost) => cost > 0)) await taken.giveBack(costs);
    };
    const hit = async (status: number | null): Promise<void> => {
      if (!guard || !key || guardCount === null) return;
      if ((await countedCost(guardCount, 1, status, raw)) > 0)
        await guard.guard.hit(key.subject, key.route, { listedAs: key.listedAs });
    };
    return (status) => settleAll([() => refund(status), () => hit(status)]);
  }

  /** Publishes that one request charged a limit and target twice: most often a middleware is mounted twice. */
  #noticeTwice({ identity }: Incoming<Raw>, limit: Limit, target: string): void {
    const { type, name } = limit.policy;
    const word = JSON.stringify([type, name, target]);
    const byHoldfast = charged.get(identity) ?? new Map<HasLimits, Set<string>>();
    const words = byHoldfast.get(this.#hf) ?? new Set<string>();
    if (words.has(word)) this.#misuse.publish("charged-twice", name);
    charged.set(identity, byHoldfast.set(this.#hf, words.add(word)));
  }
}

/** What is thrown, as an object. Express takes `next()`, `next(null)` and `next("route")` for leave to go on. */
function thrown(error: unknown): object {
  if (typeof error === "object" && error !== null) return error;
  return new InvalidArgumentError("options", `have a function that threw ${describe(error)}, not an error`);
}

function reasonOf(verdict: GuardVerdict | null, results: readonly LimitResult[]): Refusal<unknown>["reason"] {
  if (verdict && !verdict.ok) {
    if (verdict.source === "list") return "denied";
    return isClosed(verdict) ? "outage" : "penalty";
  }
  return results.some(isClosed) ? "outage" : "limit";
}

async function routeOf<Raw>(
  route: Exclude<Rules<Raw>["guard"], null>["route"],
  request: Raw,
): Promise<string> {
  if (typeof route === "string") return route;
  const given = checkKey("guard.route", await route(request));
  if (given === null) throw new InvalidArgumentError("guard.route", "must return text");
  return targetOf(given);
}

/** The verdict of the guard before the handler runs. */
async function guardVerdict<Raw>(
  { guard, count }: Exclude<Rules<Raw>["guard"], null>,
  { subject, route, listedAs }: GuardSubject,
): Promise<GuardVerdict> {
  if (count === "all") return guard.hit(subject, route, { listedAs });
  const looked = await guard.look(subject, route, { listedAs });
  if (!looked.penalty?.prolong || looked.source !== "redis") return looked;
  // A refused request has no outcome to count. Its arrival during the penalty is the hit that prolongs it.
  const hit = await guard.hit(subject, route, { listedAs });
  return hit.ok || hit.source !== "redis" ? looked : hit; // the penalty may have ended between the two calls
}
