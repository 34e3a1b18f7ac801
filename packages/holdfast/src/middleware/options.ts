/** The options of a middleware, and their validation. */
import { checkOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { Guard } from "../guards/guard.js";
import { Limit } from "../limits/limit.js";
import { Limits } from "../limits/limits.js";
import { checkCost } from "../limits/settings.js";
import { checkIpv6Prefix } from "./address.js";
import type { Answer, Refusal } from "./answer.js";
import { type Trust, type Trusted, trustedOf } from "./client-address.js";
import { checkStyles, type FieldStyle } from "./fields.js";

/** The subject that a request is counted for: the client's address, or the result of a function; null is not counted. */
export type Key<Raw> = "ip" | ((request: Raw) => Awaitable<string | null | undefined>);

type Awaitable<Value> = Value | Promise<Value>;

/** The type of request that a caller gave; the framework's own where none is given, or a route is not typed yet. */
export type Given<Req, Own> = [Req] extends [never] ? Own : Req;

export interface Outcome<Raw> {
  /** The status of the response. */
  readonly status: number;
  readonly request: Raw;
}

/**
 * Which requests count. `failures` are those with a status from 400 up, `successes` the others. A function returns a
 * boolean, or the part of the cost. The cost is taken before the request goes on and refunded after it, so that no burst
 * exceeds the limit. A request whose response never began counts, so that nobody escapes by hanging up.
 */
export type Count<Raw> =
  | "all"
  | "failures"
  | "successes"
  | ((outcome: Outcome<Raw>) => Awaitable<boolean | number>);

export interface LimitRule<Raw> {
  readonly limit: Limit;
  /** @default that of the middleware */
  readonly key?: Key<Raw> | undefined;
  /** @default that of the middleware */
  readonly cost?: number | ((request: Raw) => Awaitable<number>) | undefined;
  /** @default that of the middleware */
  readonly count?: Count<Raw> | undefined;
}

export interface GuardRule<Raw> {
  readonly guard: Guard;
  /** @default that of the middleware */
  readonly key?: Key<Raw> | undefined;
  /** Hits of one subject are counted separately for each route. @default "", all together */
  readonly route?: string | ((request: Raw) => Awaitable<string>) | undefined;
  /** Which requests are hits. Unless it is "all", they are counted after the response. @default that of the middleware */
  readonly count?: Count<Raw> | undefined;
}

export interface RateLimitOptions<Raw> {
  /** One script charges all limits, or none. Two rules on one limit and key charge it once: the larger of their costs. */
  readonly limits?: Limit | LimitRule<Raw> | readonly (Limit | LimitRule<Raw>)[] | undefined;
  /** The guard decides before the limits: a request that it refuses is not charged. */
  readonly guard?: Guard | GuardRule<Raw> | undefined;
  /** @default "ip" */
  readonly key?: Key<Raw> | undefined;
  /** The proxies whose `X-Forwarded-For` is used. Without it the header is ignored. @default none */
  readonly trust?: Trust | undefined;
  /** Number of bits of an IPv6 address that count. @default 56 */
  readonly ipv6Prefix?: number | undefined;
  /** @default 1 */
  readonly cost?: number | ((request: Raw) => Awaitable<number>) | undefined;
  /** @default "all" */
  readonly count?: Count<Raw> | undefined;
  /** Requests that are neither counted nor refused. */
  readonly skip?: ((request: Raw) => Awaitable<boolean>) | undefined;
  /** The fields of responses that describe the limits. @default "draft-11" */
  readonly headers?: FieldStyle | readonly FieldStyle[] | false | undefined;
  /** Changes the answer to a refused request. Where it returns nothing, the answer stays as it was. */
  readonly answer?:
    | ((answer: Answer, refusal: Refusal<Raw>) => Awaitable<Answer | undefined | void>)
    | undefined;
}

/** How one rule counts. */
interface Counting<Raw> {
  readonly key: Key<Raw>;
  readonly cost: number | ((request: Raw) => Awaitable<number>);
  readonly count: Count<Raw>;
}

export interface Rules<Raw> {
  readonly limits: readonly (Counting<Raw> & { readonly limit: Limit })[];
  readonly guard:
    | (Pick<Counting<Raw>, "key" | "count"> & {
        readonly guard: Guard;
        readonly route: string | ((request: Raw) => Awaitable<string>);
      })
    | null;
  readonly skip: (request: Raw) => Awaitable<boolean>;
  readonly styles: readonly FieldStyle[];
  readonly answer: (answer: Answer, refusal: Refusal<Raw>) => unknown;
  readonly ipv6Prefix: number;
  readonly isTrusted: Trusted;
  /** Whether the option `trust` was given. */
  readonly isTrustSaid: boolean;
}

const known = [
  "limits",
  "guard",
  "key",
  "trust",
  "ipv6Prefix",
  "cost",
  "count",
  "skip",
  "headers",
  "answer",
] as const;
const counts: readonly unknown[] = ["all", "failures", "successes"];

/** @throws {InvalidArgumentError} */
export function rulesOf<Raw>(options: RateLimitOptions<Raw>): Rules<Raw> {
  checkOptions("options", options, known);
  const { limits = [], guard, trust, headers, skip = () => false, answer = (given) => given } = options;
  const given = Array.isArray(limits) ? limits : [limits];
  if (given.length === 0 && guard === undefined)
    throw new InvalidArgumentError("limits", "or guard must be given: there is nothing to keep to");
  checkFunction("skip", skip);
  checkFunction("answer", answer);
  const common: Counting<Raw> = {
    key: options.key ?? "ip",
    cost: options.cost ?? 1,
    count: options.count ?? "all",
  };
  return {
    limits: given.map((each: Limit | LimitRule<Raw>, place) => limitRuleOf(each, common, `limits[${place}]`)),
    guard: guard === undefined ? null : guardRuleOf(guard, common),
    skip,
    styles: checkStyles(headers),
    answer,
    ipv6Prefix: checkIpv6Prefix(options.ipv6Prefix),
    isTrusted: trustedOf(trust),
    isTrustSaid: trust !== undefined,
  };
}

function limitRuleOf<Raw>(
  given: Limit | LimitRule<Raw>,
  common: Counting<Raw>,
  argument: string,
): Rules<Raw>["limits"][number] {
  checkCopy(argument, given, Limit);
  const rule: LimitRule<Raw> = given instanceof Limit ? { limit: given } : given;
  checkOptions(argument, rule, ["limit", "key", "cost", "count"]);
  const { limit, key = common.key, cost = common.cost, count = common.count } = rule;
  checkCopy(`${argument}.limit`, limit, Limit);
  if (!(limit instanceof Limit))
    throw new InvalidArgumentError(`${argument}.limit`, "must be a limit: hf.limit(name, options)");
  checkCounting({ key, cost, count });
  return { limit, key, cost, count };
}

function guardRuleOf<Raw>(given: Guard | GuardRule<Raw>, common: Counting<Raw>): Rules<Raw>["guard"] {
  checkCopy("guard", given, Guard);
  const rule: GuardRule<Raw> = given instanceof Guard ? { guard: given } : given;
  checkOptions("guard", rule, ["guard", "key", "route", "count"]);
  const { guard, route = "", key = common.key, count = common.count } = rule;
  checkCopy("guard", guard, Guard);
  if (!(guard instanceof Guard))
    throw new InvalidArgumentError("guard", "must be a guard: hf.guard(name, options)");
  if (typeof route !== "string") checkFunction("guard.route", route);
  checkCounting({ key, cost: 1, count });
  return { guard, route, key, count };
}

/**
 * A program that imports holdfast in one file and requires it in another has two copies of every class. An object of the other
 * copy is known only by the name of its class.
 * @throws {InvalidArgumentError}
 */
function checkCopy(argument: string, value: unknown, own: typeof Limit | typeof Guard | typeof Limits): void {
  if (typeof value !== "object" || value === null || value instanceof own) return;
  if (value.constructor?.name !== own.name) return;
  throw new InvalidArgumentError(
    argument,
    "is of another copy of holdfast than this middleware: import both, or require both (ESM and CommonJS are two copies)",
  );
}

function checkCounting<Raw>({ key, cost, count }: Counting<Raw>): void {
  if (key !== "ip" && typeof key !== "function")
    throw new InvalidArgumentError("key", 'must be "ip" or a function');
  if (typeof cost !== "function") checkCost("cost", cost);
  if (!counts.includes(count) && typeof count !== "function")
    throw new InvalidArgumentError("count", 'must be "all", "failures", "successes" or a function');
}

/** For the shells that take the option `address` out before the others are checked. @throws {InvalidArgumentError} */
export function checkAddressOption(options: { readonly address?: unknown }): void {
  if (typeof options !== "object" || options === null)
    throw new InvalidArgumentError("options", "must be an object");
  if (options.address !== undefined) checkFunction("address", options.address);
}

function checkFunction(argument: string, value: unknown): void {
  if (typeof value !== "function") throw new InvalidArgumentError(argument, "must be a function");
}

/** Each limit must have been made by the Holdfast of the middleware. @throws {InvalidArgumentError} */
export function checkOwner(hf: unknown, rules: readonly { readonly limit: Limit }[]): void {
  const own = (hf as { limits?: unknown } | null | undefined)?.limits;
  checkCopy("hf", own, Limits);
  if (!(own instanceof Limits))
    throw new InvalidArgumentError("hf", "must be a Holdfast: new Holdfast(client)");
  for (const { limit } of rules)
    if (!own.has(limit))
      throw new InvalidArgumentError(
        "limits",
        `is the limit '${limit.name}' of another Holdfast: make both with one`,
      );
}
