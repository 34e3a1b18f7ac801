/** GuardSettings: the options of a guard, checked once, and the verdict that they lead to. */
import { checkOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { type LimitSettings, type Outage, parseLimitOptions, spanMs } from "../limits/settings.js";
import { type Duration, show } from "../time/duration.js";

/**
 * What happens to a subject that went over. The guard returns the kind, and the caller carries it out. A middleware does
 * this:
 *
 * - `postpone`: answers with a problem document that says when to come back
 * - `busy`: the same, but a browser receives the busy page
 * - `refuse`: the same as `postpone`, unless the middleware's `answer` makes a difference
 */
export type PenaltyKind = "postpone" | "busy" | "refuse";

export interface PenaltyRule {
  readonly kind: PenaltyKind;
  /** How long the penalty lasts: a duration such as `"15s"`, or milliseconds. */
  readonly for: Duration;
  /**
   * Whether a hit during the penalty starts it again. Then Redis counts each of these hits. In a middleware each request
   * of a penalised subject is a hit, whatever the middleware counts otherwise, because a refused request has no outcome.
   * @default false
   */
  readonly prolong?: boolean | undefined;
}

export interface Penalty {
  readonly kind: PenaltyKind;
  readonly forMs: number;
  readonly prolong: boolean;
}

/** The subjects of a list: an array, a Set, or any object with a `has(subject)`. */
export type SubjectSet = readonly string[] | { has(subject: string): boolean };

/**
 * A list, or a function that loads it. The function is called when the list is first needed, and again in the background
 * once `listMaxAge` has passed, one load at a time. The first hits wait for the first load, together and at most `timeout`.
 * A load that fails, or takes longer than 10 s or `listMaxAge`, is reported on `holdfast:guard:list-failed`, and another
 * load follows. Until a load succeeds the list stays as it was, and before the first one it is empty: `deny` denies nobody.
 */
export type SubjectList = SubjectSet | (() => SubjectSet | Promise<SubjectSet>);

export interface GuardOptions {
  /** How many hits of one subject on one route are free in each `per`. The next one is punished. At least 1. */
  readonly hits: number;
  /** The period of `hits`, which begins with the first of them: a duration such as `"1m"`, or milliseconds. */
  readonly per: Duration;
  /** The n-th strike receives the n-th penalty; strikes beyond receive the last. At least one. */
  readonly penalties: readonly [PenaltyRule, ...PenaltyRule[]];
  /** How long after the end of the last penalty the strikes of a subject are forgotten. @default "1h" */
  readonly decay?: Duration | undefined;
  /**
   * Subjects that are never counted, even if `deny` has them. In a middleware with the key "ip" both lists are searched
   * for the address of the request, and for the subject that is counted: the network of an IPv6 address.
   */
  readonly allow?: SubjectList | undefined;
  /** Subjects that are never admitted. */
  readonly deny?: SubjectList | undefined;
  /** How old a loaded list may become before it is loaded again. @default "1m" */
  readonly listMaxAge?: Duration | undefined;
  /**
   * How a hit is decided while Redis cannot be asked. Penalties that this process knows of remain in force. With `local`
   * this process counts by itself, up to `localShare` of the hits, and gives the first penalty beyond.
   * @default "error"
   */
  readonly outage?: Outage | undefined;
  /** The share of `hits` that is free in each process in an outage, above 0 to 1, but at least one hit. @default 0.1 */
  readonly localShare?: number | undefined;
  /** The time-out of one call to Redis, after which `outage` decides. @default the `callTimeout` of the Holdfast */
  readonly timeout?: Duration | undefined;
  /** Whether this process answers hits during a penalty by itself, without Redis. @default true */
  readonly cache?: boolean | undefined;
}

export interface GuardVerdict {
  /** Whether the subject is admitted. */
  readonly ok: boolean;
  /**
   * The penalty in force, or the one that this hit caused. Null if there is none, if a list denied the subject, or if
   * Redis could not be asked.
   */
  readonly penalty: Penalty | null;
  /** Milliseconds until the penalty ends. 0 if the subject is admitted. Null if it never ends, or is not known. */
  readonly retryAfterMs: number | null;
  /** How many penalties the subject has received, since they were last forgotten. */
  readonly strikes: number;
  /** How many hits on this route are still free. */
  readonly remaining: number;
  /**
   * Who decided:
   *
   * - `redis`: the script on the server
   * - `cache`: this process, from a penalty that is still in force
   * - `list`: `allow` or `deny`, which has the subject
   * - `outage`: this process, by the guard's `outage`, because Redis could not be asked
   */
  readonly source: "redis" | "cache" | "list" | "outage";
}

export interface GuardSettings {
  readonly name: string;
  readonly hits: number;
  readonly penalties: readonly Penalty[];
  /** The settings as arguments of the script. */
  readonly words: readonly string[];
  readonly perUs: number;
  readonly allow: SubjectList;
  readonly deny: SubjectList;
  readonly listMaxAgeMs: number;
  readonly outage: Outage;
  /** The limit by which this process counts in an outage. */
  readonly share: LimitSettings;
  /** Null: the time-out of the Holdfast. */
  readonly timeoutMs: number | null;
  readonly cache: boolean;
}

const known = [
  "hits",
  "per",
  "penalties",
  "decay",
  "allow",
  "deny",
  "listMaxAge",
  "outage",
  "localShare",
  "timeout",
  "cache",
] as const;
const kinds: readonly PenaltyKind[] = ["postpone", "busy", "refuse"];
const MOST_PENALTIES = 100;
const DEFAULT_DECAY = "1h";
const DEFAULT_LISTS = "1m";

/** @throws {InvalidArgumentError} */
export function parseGuardOptions(name: string, options: GuardOptions): GuardSettings {
  checkOptions("options", options, known);
  const { hits, per, outage, localShare, timeout, cache, allow = [], deny = [] } = options;
  if (!Number.isInteger(hits) || hits < 1)
    throw new InvalidArgumentError("hits", `must be a whole number from 1, not ${show(hits)}`);
  const counted = parseLimitOptions(name, {
    type: "window",
    max: hits,
    per,
    outage,
    localShare,
    timeout,
    cache,
  });
  const { decay = DEFAULT_DECAY, listMaxAge = DEFAULT_LISTS } = options;
  const decayMs = spanMs("decay", decay, 0);
  const penalties = parsePenalties(options.penalties);
  return Object.freeze({
    name,
    hits,
    penalties,
    words: [
      `${hits}`,
      `${counted.perUs}`,
      `${decayMs * 1_000}`,
      ...penalties.flatMap(({ forMs, prolong }) => [`${forMs * 1_000}`, prolong ? "1" : "0"]),
    ],
    perUs: counted.perUs,
    allow: checkList("allow", allow),
    deny: checkList("deny", deny),
    listMaxAgeMs: spanMs("listMaxAge", listMaxAge, 1),
    outage: counted.outage,
    share: { ...counted, localShare: Math.max(counted.localShare, 1 / hits) },
    timeoutMs: counted.timeoutMs,
    cache: counted.cache,
  });
}

function parsePenalties(rules: unknown): Penalty[] {
  if (!Array.isArray(rules) || rules.length === 0 || rules.length > MOST_PENALTIES)
    throw new InvalidArgumentError(
      "penalties",
      `must be an array of 1 to ${MOST_PENALTIES} rules such as { kind: "busy", for: "15s" }`,
    );
  return rules.map((rule: PenaltyRule, place) => {
    const argument = `penalties[${place}]`;
    checkOptions(argument, rule, ["kind", "for", "prolong"]);
    const { kind, for: duration, prolong = false } = rule;
    if (!kinds.includes(kind))
      throw new InvalidArgumentError(
        `${argument}.kind`,
        `must be one of ${kinds.join(", ")}, not ${show(kind)}`,
      );
    if (typeof prolong !== "boolean")
      throw new InvalidArgumentError(`${argument}.prolong`, "must be true or false");
    return Object.freeze({ kind, forMs: spanMs(`${argument}.for`, duration, 1), prolong });
  });
}

function checkList(argument: string, list: unknown): SubjectList {
  if (typeof list !== "function") checkSubjects(argument, list);
  return list as SubjectList;
}

/** @throws {InvalidArgumentError} */
export function checkSubjects(argument: string, list: unknown): SubjectSet {
  const isSet = typeof (list as { has?: unknown } | null)?.has === "function";
  if (isSet || (Array.isArray(list) && list.every((subject) => typeof subject === "string")))
    return list as SubjectSet;
  throw new InvalidArgumentError(
    argument,
    "must be an array of text, something that has(subject), or a function for it",
  );
}
