/** A timeline of a history: who had what and when, what a fence refused, what the harness did, which rule was broken. */
import { type Hold, type HoldOptions, holdsOf } from "../history/hold.js";
import type { Operation } from "../history/operation.js";
import type { Span } from "../history/span.js";
import { type Breach, byKey } from "../history/violation.js";
import type { Arrow, Band, Bar, Lane, Mark, Timeline } from "./timeline.js";

export interface FromHistoryOptions extends HoldOptions {
  readonly title: string;
  readonly caption?: string;
  readonly violations?: readonly Breach[];
  /** Shows operations of every kind by their beginning and end, not those of locks alone. @default false */
  readonly showsCalls?: boolean;
  /** What to show. @default what the first violation is about, with a little before and after; else everything */
  readonly span?: Span;
  /** Messages that somebody saw, and the servers that they go to: their lanes. */
  readonly arrows?: readonly Arrow[];
  readonly servers?: readonly string[];
}

export function timelineOf(operations: readonly Operation[], options: FromHistoryOptions): Timeline {
  return new Telling(operations, options).timeline();
}

/** Around what takes no time at all. */
const LEAST_MARGIN_MS = 5;
const NEMESIS = "nemesis";
const visits = ["enter", "read", "write"];
const ofLocks = ["acquire", "release", "hold", "renew", ...visits];
const pauses = /pause|stop|freeze|stall/i;
/** Faults of one moment, by what the harness calls them. */
const sudden: readonly (readonly [RegExp, Mark["kind"]])[] = [
  [/restart|start/i, "restart"],
  [/kill|crash/i, "crash"],
  [/clock|step/i, "clock"],
];

class Telling {
  readonly #options: FromHistoryOptions;
  readonly #span: Span;
  readonly #acts: readonly Operation[];
  readonly #faults: readonly Operation[];
  readonly #lanes: readonly Lane[];
  readonly #digits: number;

  constructor(operations: readonly Operation[], options: FromHistoryOptions) {
    this.#options = options;
    this.#span = options.span ?? spanOf(operations, options.violations?.[0]);
    const shown = operations.filter((operation) => {
      const lastMs = Math.max(operation.retMs ?? operation.invMs, operation.endMs ?? operation.invMs);
      return this.#isShown(operation.invMs, lastMs);
    });
    this.#acts = shown.filter(({ process }) => process !== NEMESIS);
    this.#faults = shown.filter(({ process }) => process === NEMESIS);
    this.#digits = digitsApart(shown.flatMap(({ token }) => token ?? []));
    const processes = [...new Set(this.#acts.map(({ process }) => process))];
    const resources = [...new Set(this.#acts.filter(isVisit).map(({ key }) => key))];
    this.#lanes = [
      ...processes.map((id): Lane => ({ id, kind: "process" })),
      ...(options.servers ?? []).map((id): Lane => ({ id, kind: "server" })),
      ...resources.map((key): Lane => ({ id: laneOf(key), title: key, kind: "resource" })),
    ];
  }

  timeline(): Timeline {
    const { title, caption, arrows = [], violations = [], showsCalls = false } = this.#options;
    const holds = [...byKey(this.#acts).values()].flatMap((all) => holdsOf(all, this.#options));
    const waits = this.#acts.filter(({ f }) => f === "acquire").map(waitOf);
    const calls = showsCalls ? this.#acts.filter(({ f }) => !ofLocks.includes(f)).map(callOf) : [];
    const told = this.#faults.map((fault) => this.#fault(fault));
    const messages = [...arrows, ...this.#acts.filter(isVisit).map((visit) => this.#visit(visit))];
    const bars = [
      ...waits,
      ...calls,
      ...holds.map((hold) => this.#hold(hold)),
      ...told.flatMap(({ bar }) => bar ?? []),
    ];
    const marks = [
      ...this.#acts.flatMap((operation) => this.#marksOf(operation)),
      ...told.flatMap(({ mark }) => mark ?? []),
      ...this.#deaths(),
      ...violations.flatMap(violationMark),
    ];
    const bands = [
      ...told.flatMap(({ band }) => band ?? []),
      ...violations.flatMap((one) => overlapOf(one, holds)),
    ];
    return {
      title,
      ...(caption === undefined ? {} : { caption }),
      lanes: this.#lanes,
      bars: bars
        .filter(({ fromMs, toMs }) => toMs > fromMs && this.#isShown(fromMs, toMs))
        .map((bar) => this.#clipped(bar)),
      arrows: messages.filter(({ sentMs }) => this.#isShown(sentMs, sentMs)),
      marks: marks.filter(({ lane, atMs }) => this.#hasLane(lane) && this.#isShown(atMs, atMs)),
      bands: bands.filter(({ fromMs, toMs }) => this.#isShown(fromMs, toMs)),
    };
  }

  #isShown(fromMs: number, toMs: number): boolean {
    return fromMs <= this.#span.toMs && toMs >= this.#span.fromMs;
  }

  #clipped(bar: Bar): Bar {
    const { fromMs, toMs } = this.#span;
    return {
      ...bar,
      fromMs: Math.max(bar.fromMs, fromMs),
      toMs: bar.toMs > toMs ? Infinity : bar.toMs,
    };
  }

  #hasLane(lane: string): boolean {
    return this.#lanes.some(({ id }) => id === lane);
  }

  /** As many of the last digits as tell the tokens of this picture apart. */
  #label(token: bigint | undefined): string {
    if (token === undefined) return "";
    const digits = `${token}`;
    return digits.length <= Math.max(this.#digits, 6) ? digits : `…${digits.slice(-this.#digits)}`;
  }

  #hold({ operation, fromMs, toMs }: Hold): Bar {
    const { process, key } = operation;
    const label = this.#label(operation.token);
    const note = `${process} has "${key}"${label && `, token ${label}`}`;
    const bar = { lane: process, fromMs, toMs, kind: "hold", label, note } as const;
    return toMs === Infinity ? bar : { ...bar, endNote: this.#endOf(operation, toMs) };
  }

  #endOf({ process, key, validUntilMs }: Operation, toMs: number): string {
    const release = this.#acts.find(
      (one) => one.process === process && one.key === key && one.f === "release" && one.invMs === toMs,
    );
    if (release) return `${process} gives "${key}" back`;
    return validUntilMs === toMs ? `the lease of ${process} runs out` : `${process} no longer has "${key}"`;
  }

  #visit({ process, f, key, type, token, invMs, retMs }: Operation): Arrow {
    const label = token === undefined ? f : `${f}, token ${this.#label(token)}`;
    const receivedMs = type === "info" ? null : retMs;
    return { from: process, to: laneOf(key), sentMs: invMs, receivedMs, label };
  }

  #marksOf(operation: Operation): Mark[] {
    const { process, f, key, type, retMs, error } = operation;
    const because = error === undefined ? "" : ` (${error})`;
    if (retMs === null || type === "ok") return [];
    const at = { lane: process, atMs: retMs };
    if (isVisit(operation) && type === "fail") {
      const refusal = `"${key}" refuses the ${f} of ${process}${because}`;
      return [{ ...at, lane: laneOf(key), kind: "refused", label: refusal }];
    }
    if (type === "info") {
      return [{ ...at, kind: "note", label: `${process} does not know what became of its ${f}${because}` }];
    }
    return [{ ...at, kind: "note", label: `${f} of "${key}" by ${process}: no${because}` }];
  }

  #fault({ f, key, invMs, retMs, value }: Operation): {
    readonly bar?: Bar;
    readonly mark?: Mark;
    readonly band?: Band;
  } {
    const what = typeof value === "string" ? `${f} ${value}` : f;
    const toMs = retMs ?? this.#span.toMs;
    const mark = sudden.find(([name]) => name.test(f))?.[1];
    if (!this.#hasLane(key))
      return { band: { fromMs: invMs, toMs, kind: "fault", label: `${what}: ${key}` } };
    if (mark) return { mark: { lane: key, atMs: invMs, kind: mark, label: `${key}: ${what}` } };
    if (!pauses.test(f)) return { band: { fromMs: invMs, toMs, kind: "fault", label: `${what}: ${key}` } };
    return { bar: { lane: key, fromMs: invMs, toMs, kind: "pause", note: `${key} is stopped (${what})` } };
  }

  #deaths(): Mark[] {
    const killed = this.#faults.filter(({ f }) => /kill|crash/i.test(f)).map(({ key }) => key);
    return [...(this.#options.deathsMs ?? [])]
      .filter(([process]) => !killed.includes(process))
      .map(([lane, atMs]) => ({ lane, atMs, kind: "crash", label: `${lane} dies` }));
  }
}

function waitOf({ process, key, invMs, retMs }: Operation): Bar {
  const note = `${process} waits for "${key}"`;
  return { lane: process, fromMs: invMs, toMs: retMs ?? Infinity, kind: "wait", note, endNote: "" };
}

function callOf({ process, f, key, invMs, retMs, type, token, value }: Operation): Bar {
  const note = `${process}: ${f} of "${key}"`;
  const told = [token === undefined ? "" : `token ${token}`, value === undefined ? "" : textOf(value)];
  const more = told.filter((text) => text !== "").join(", ");
  // A mark tells how one ends that did not succeed.
  const endNote = type === "ok" ? `${process}: ${f} has ended${more && `: ${more}`}` : "";
  return { lane: process, fromMs: invMs, toMs: retMs ?? Infinity, kind: "wait", note, endNote };
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each));
}

function violationMark({ operations, atMs, message }: Breach): Mark[] {
  const last = operations.at(-1);
  return last ? [{ lane: last.process, atMs, kind: "violation", label: message }] : [];
}

/** While too many held it. */
function overlapOf({ property, operations, atMs }: Breach, holds: readonly Hold[]): Band[] {
  if (property !== "L4") return [];
  const ends = holds.filter(({ operation }) => operations.includes(operation)).map(({ toMs }) => toMs);
  const toMs = Math.min(...ends);
  return Number.isFinite(toMs) ? [{ fromMs: atMs, toMs, kind: "violation", label: "" }] : [];
}

/** Of a violation, what it is about, without the waiting before it. */
function spanOf(operations: readonly Operation[], violation: Breach | undefined): Span {
  const about = violation?.operations ?? operations;
  const times = about.flatMap(({ f, invMs, retMs, endMs }) => [
    violation && f === "acquire" ? (retMs ?? invMs) : invMs,
    retMs ?? invMs,
    endMs ?? invMs,
  ]);
  if (violation) times.push(violation.atMs);
  const fromMs = times.reduce((a, b) => Math.min(a, b), Infinity);
  const toMs = times.reduce((a, b) => Math.max(a, b), -Infinity);
  const marginMs = violation ? Math.max((toMs - fromMs) * 0.15, LEAST_MARGIN_MS) : 0;
  return { fromMs: fromMs - marginMs, toMs: toMs + marginMs };
}

function digitsApart(tokens: readonly bigint[]): number {
  const all = [...new Set(tokens)].map(String);
  let digits = 3;
  while (digits < 20 && new Set(all.map((token) => token.slice(-digits))).size < all.length) digits++;
  return digits;
}

function isVisit({ f }: Operation): boolean {
  return visits.includes(f);
}

/** A resource may be called like a process. */
function laneOf(key: string): string {
  return `resource ${key}`;
}
