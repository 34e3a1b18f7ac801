/** LimitSettings: the options of a limit, checked once. */
import { checkOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { type Duration, durationMs, show } from "../time/duration.js";
import { type LimitType, limitTypes, namesOfTypes, types } from "./types.js";

/**
 * How a check is decided while Redis cannot be asked:
 *
 * - `error`: the check rejects
 * - `open`: the check admits
 * - `closed`: the check refuses
 * - `local`: this process counts by itself, and admits up to `localShare` of the limit, rounded down
 *
 * No charge is sent while the client is not connected, or after a call without an answer, until a PING has found Redis
 * back. A charge that was under way as the connection broke may be sent again by the client, and then counts twice. A
 * refund counts once, unless the client sends it again more than a minute later.
 */
export type Outage = "error" | "open" | "closed" | "local";

/** The options that a limit of every type has. */
interface CommonOptions {
  /** Maximum cost admitted in each `per`. A whole number; 0 refuses everything. */
  readonly max: number;
  /** How a check is decided while Redis cannot be asked. @default "error" */
  readonly outage?: Outage | undefined;
  /** The share of `max` that each process admits in an outage, above 0 to 1. Only with `outage: "local"`. @default 0.1 */
  readonly localShare?: number | undefined;
  /** The time-out of one call to Redis, after which `outage` decides. @default the `callTimeout` of the Holdfast */
  readonly timeout?: Duration | undefined;
  /**
   * Whether this process answers a retry that comes too early by itself, from the refusal before it. The cache holds ten
   * thousand targets. A refund, `set` or `reset` by this process ends a refusal at once. One by another process is noticed
   * when the refusal would have ended by itself.
   * @default true
   */
  readonly cache?: boolean | undefined;
}

interface TypeOption<Type extends LimitType> {
  /** How the limit counts. @default "rolling" */
  readonly type: Type;
}

interface PerOption {
  /** The period of `max`, at most 366 days: a duration such as `"1m"`, or milliseconds. Not for `lifetime`. */
  readonly per: Duration;
}

interface BurstOption {
  /** Maximum cost admitted at once. Only for `gcra`. @default `max` */
  readonly burst?: number | undefined;
}

interface BlockOption {
  /**
   * The cost that this process takes ahead from Redis at once, and then deals out without it. That is quicker and never
   * admits more than the limit. It admits less where a process does not use what it took. A bucket's block is dealt out
   * within a second and a tenth of `per`, and up to a tenth of `max` less fits at once. A window's block ends with its
   * window. Not for `sliding`.
   * @default 0, which sends each charge by itself
   */
  readonly block?: number | undefined;
}

interface NoBlockOption {
  /** The charges of this type cannot be dealt out ahead. */
  readonly block?: 0 | undefined;
}

type Optional<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined };
/** Options that the type would refuse. */
type Without<Options> = { readonly [Name in keyof Options]?: undefined };

type Row<Type extends LimitType> = (typeof types)[Type];

type OptionsOf<Type extends LimitType> = CommonOptions &
  (Type extends typeof DEFAULT_TYPE ? Optional<TypeOption<Type>> : TypeOption<Type>) &
  (Row<Type>["frees"] extends "never" ? Without<PerOption> : PerOption) &
  (Row<Type>["hasBurst"] extends true ? BurstOption : Without<BurstOption>) &
  (Row<Type>["frees"] extends "singly" ? NoBlockOption : BlockOption);

/** The options of a limit: `max`, `per` unless it is a `lifetime`, and those of its type. */
export type LimitOptions = { [Type in LimitType]: OptionsOf<Type> }[LimitType];

/** The name of a limit and its bounds, as results have them. */
export interface LimitPolicy {
  readonly name: string;
  readonly type: LimitType;
  readonly max: number;
  /** The period in milliseconds. Null for a limit that never begins again. */
  readonly perMs: number | null;
}

export interface LimitSettings {
  readonly policy: LimitPolicy;
  /** Maximum cost admitted at once. */
  readonly burst: number;
  /** The period in µs; 0 for a limit that never begins again. */
  readonly perUs: number;
  /** The step in which a bucket counts time, in µs: see charge.lua. */
  readonly unitUs: number;
  /** The bounds as a lone charge names them: see charge.lua. */
  readonly bounds: string;
  readonly outage: Outage;
  readonly localShare: number;
  /** Null: the time-out of the Holdfast. */
  readonly timeoutMs: number | null;
  readonly cache: boolean;
  readonly block: number;
}

const outages: readonly Outage[] = ["error", "open", "closed", "local"];
const MOST = 1_000_000_000;
const MOST_SPAN_MS = 366 * 86_400_000;
const DEFAULT_TYPE = "rolling";
const DEFAULT_LOCAL_SHARE = 0.1;
/** The largest number up to which Lua counts exactly, with a bit to spare. */
const EXACT = 2 ** 52;
const TIMEOUT = { minMs: 1, maxMs: 600_000 };
const known = ["max", "per", "type", "burst", "outage", "localShare", "timeout", "cache", "block"] as const;

/** @throws {InvalidArgumentError} */
export function parseLimitOptions(name: string, options: LimitOptions): LimitSettings {
  checkOptions("options", options, known);
  const { max, type = DEFAULT_TYPE, burst = max, outage = "error", cache = true, block = 0 } = options;
  oneOf("type", type, limitTypes);
  oneOf("outage", outage, outages);
  whole("max", max, 0);
  const { frees, hasBurst } = types[type];
  if (options.burst !== undefined && !hasBurst)
    throw new InvalidArgumentError("burst", `is for type ${namesOfTypes((each) => each.hasBurst)}`);
  whole("burst", burst, max === 0 ? 0 : 1);
  whole("block", block, 0);
  if (block > 0 && frees === "singly")
    throw new InvalidArgumentError("block", `cannot be exact in type "${type}": leave it out`);
  if (typeof cache !== "boolean") throw new InvalidArgumentError("cache", "must be true or false");
  const perMs = parsePer(type, options.per);
  const perUs = (perMs ?? 0) * 1_000;
  const unitUs = frees === "evenly" ? chooseUnit(burst, max, perUs) : 1;
  return {
    policy: { name, type, max, perMs },
    burst,
    perUs,
    unitUs,
    bounds: `${max} ${burst} ${type} ${perUs} ${unitUs}`,
    outage,
    localShare: parseLocalShare(options),
    timeoutMs: options.timeout === undefined ? null : durationMs("timeout", options.timeout, TIMEOUT),
    cache,
    block: Math.min(block, max),
  };
}

function parsePer(type: LimitType, per: Duration | undefined): number | null {
  if (types[type].frees !== "never") return spanMs("per", per, 1);
  if (per !== undefined) throw new InvalidArgumentError("per", `is not for type "${type}", which has no end`);
  return null;
}

/** @throws {InvalidArgumentError} */
export function spanMs(argument: string, value: unknown, minMs: number): number {
  const ms = durationMs(argument, value, { minMs, maxMs: Number.POSITIVE_INFINITY });
  if (ms > MOST_SPAN_MS)
    throw new InvalidArgumentError(argument, `must be at most 366 days, not ${show(value)}`);
  return ms;
}

function parseLocalShare(options: LimitOptions): number {
  const { outage, localShare = DEFAULT_LOCAL_SHARE } = options;
  if (options.localShare !== undefined && outage !== "local")
    throw new InvalidArgumentError("localShare", 'is for outage "local"');
  if (typeof localShare !== "number" || !(localShare > 0 && localShare <= 1))
    throw new InvalidArgumentError("localShare", "must be above 0, and at most 1");
  return localShare;
}

/** The shortest step of time in which a full bucket is a number that Lua counts exactly. */
function chooseUnit(burst: number, max: number, perUs: number): number {
  if (max > 0 && burst * perUs > EXACT * max)
    throw new InvalidArgumentError("burst", "takes more than 140 years to be free again: make it less");
  const unitUs = [1, 1_000, 1_000_000].find((us) => (burst * perUs) / us <= EXACT && perUs % us === 0);
  if (unitUs !== undefined) return unitUs;
  throw new InvalidArgumentError(
    "max",
    `is too many for so long a time: what fits, times the seconds, is above ${EXACT}`,
  );
}

/** Whether both read the same state alike, so that an answer to one is an answer to the other. */
export function isSame(one: LimitSettings, other: LimitSettings): boolean {
  if (one === other) return true;
  return one.policy.max === other.policy.max && one.perUs === other.perUs && one.burst === other.burst;
}

function oneOf<Value>(argument: string, value: Value, values: readonly Value[]): void {
  if (!values.includes(value))
    throw new InvalidArgumentError(argument, `must be one of ${values.join(", ")}, not ${show(value)}`);
}

function whole(argument: string, value: unknown, least: number): void {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > MOST)
    throw new InvalidArgumentError(
      argument,
      `must be a whole number from ${least} to ${MOST}, not ${show(value)}`,
    );
}

/** A cost is a whole number from 0. @throws {InvalidArgumentError} */
export function checkCost(argument: string, cost: unknown): number {
  whole(argument, cost, 0);
  return cost as number;
}

/** As milliseconds a time of 1973. A smaller number means seconds. */
const IN_SECONDS = 1e11;

/** The moment in µs since 1970. @throws {InvalidArgumentError} */
export function parseMoment(atMs: number | null): number | null {
  if (atMs === null) return null;
  if (Number.isFinite(atMs) && atMs >= IN_SECONDS) return Math.round(atMs * 1_000);
  throw new InvalidArgumentError(
    "atMs",
    `must be milliseconds since 1970, and not seconds, not ${show(atMs)}`,
  );
}

/** Only a type that regenerates evenly can count a late charge for less. @throws {InvalidArgumentError} */
export function checkLate({ policy: { type } }: LimitSettings, atUs: number | null): void {
  if (atUs === null || types[type].frees === "evenly") return;
  const suitable = namesOfTypes(({ frees }) => frees === "evenly");
  throw new InvalidArgumentError("atMs", `is for ${suitable}, and for refunds: leave it out for ${type}`);
}
