/** GuardSettings: the options of a guard, checked once, and the verdict that they lead to. */
import { checkOptions } from "../arguments.js";
import { InvalidArgumentError } from "../errors.js";
import { type LimitSettings, type Outage, parseLimitOptions, spanMs } from "../limits/settings.js";
import { type Duration, show } from "../time/duration.js";

/**
 * What is done with who went over. The guard says which; what it means is the caller's, and for the middleware:
 *
 * - `postpone`: come later; answered with a problem document
 * - `busy`: the same, and people see the busy page
 * - `refuse`: go away; answered as `postpone`, until `answer` of the middleware makes a difference
 */
export type PenaltyKind = "postpone" | "busy" | "refuse";

export interface PenaltyRule {
  readonly kind: PenaltyKind;
  readonly for: Duration;
  /**
   * A hit during the penalty lets it begin anew. Such hits are counted in Redis, each of them; in a middleware each
   * request is one, whatever it counts: what is refused has no outcome of its own. @default false
   */
  readonly prolong?: boolean | undefined;
}

export interface Penalty {
  readonly kind: PenaltyKind;
  readonly forMs: number;
  readonly prolong: boolean;
}

/** Whom a list names: an array, a Set, or whatever else can say whether it has a subject. */
export type SubjectSet = readonly string[] | { has(subject: string): boolean };

/**
 * A list as it is, or a function that loads it: when it is first needed, and again in the background once `listMaxAge` has
 * passed, one load at a time. The first load is waited for, once, as long as a call to Redis (`timeout`). A load that
 * fails, or takes longer than 10 s or `listMaxAge`, is told by `holdfast:guard:list-failed` and followed by another; until
 * one comes, however late, the list is as it was, and before the first of them empty: `deny` lets everybody in.
 */
export type SubjectList = SubjectSet | (() => SubjectSet | Promise<SubjectSet>);

export interface GuardOptions {
  /** So many hits of one subject on one route are free in each `per`; the next one is punished. At least 1. */
  readonly hits: number;
  /** From the first hit in it. */
  readonly per: Duration;
  /** The n-th strike has the n-th penalty, those beyond have the last. At least one. */
  readonly penalties: readonly PenaltyRule[];
  /** So long after the last penalty ended, the strikes of a subject are forgotten. @default "1h" */
  readonly decay?: Duration | undefined;
  /**
   * Never counted, whatever `deny` says. In a middleware with the key "ip" both lists are asked for the address of the
   * request, as well as for what it is counted by, the network of an IPv6 one.
   */
  readonly allow?: SubjectList | undefined;
  /** Never let in. */
  readonly deny?: SubjectList | undefined;
  /** How old a list that is loaded may become. @default "1m" */
  readonly listMaxAge?: Duration | undefined;
  /**
   * What a hit says while Redis cannot be asked. Penalties that this process knows of stand all the same; `local`
   * counts here, up to `localShare` of the hits, and has the first penalty for who goes over.
   * @default "error"
   */
  readonly outage?: Outage | undefined;
  /** Only with `outage: "local"`, above 0 to 1; one hit is always free. @default 0.1 */
  readonly localShare?: number | undefined;
  /** The limit of one call to Redis, after which `outage` decides. @default that of the Holdfast */
  readonly timeout?: Duration | undefined;
  /** Answers who is punished from this process, without Redis, until the penalty ends. @default true */
  readonly cache?: boolean | undefined;
}

export interface GuardVerdict {
  readonly ok: boolean;
  /** What stands against the subject, or would: null where it is free, denied by a list, or nobody could be asked. */
  readonly penalty: Penalty | null;
  /** Until the penalty ends; 0 where it is free; null: never, or not known. */
  readonly retryAfterMs: number | null;
  /** How often it was punished, as far as that is not forgotten. */
  readonly strikes: number;
  /** Hits on this route that are still free. */
  readonly remaining: number;
  /**
   * - `redis`: it was asked
   * - `cache`: it had said so before, and the penalty has not ended
   * - `list`: `allow` or `deny` has the subject
   * - `outage`: it could not be asked, and the guard's `outage` decided
   */
  readonly source: "redis" | "cache" | "list" | "outage";
}

export interface GuardSettings {
  readonly name: string;
  readonly hits: number;
  readonly penalties: readonly Penalty[];
  /** What every call of the script says of the settings. */
  readonly words: readonly string[];
  readonly perUs: number;
  readonly allow: SubjectList;
  readonly deny: SubjectList;
  readonly listsMs: number;
  readonly outage: Outage;
  /** For what this process counts by itself. */
  readonly share: LimitSettings;
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
    listsMs: spanMs("listMaxAge", listMaxAge, 1),
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
