/** What the run asks of a contestant's process, and what it hears back. Times are milliseconds. */

export interface CyclesTask {
  readonly task: "cycles";
  readonly callers: number;
  readonly ms: number;
  /** process.hrtime, the same for all processes of a machine: so that several begin together. */
  readonly startAtNs: string;
  /**
   * own: each caller has a name. many: each caller goes through a thousand names of its own. hot: one name for all.
   */
  readonly names: "own" | "many" | "hot";
  /** What is done while holding: nothing, or a counter read and written without atomicity, here or there. */
  readonly section: Section;
  /** Share of turns that write, in per cent: the others may share the name. @default 100 */
  readonly writePercent?: number;
  /** Whether the report says when each turn began. @default false */
  readonly notesTurns?: boolean;
  /** Of the names; a new one for each question and contestant. */
  readonly prefix: string;
}

export type Section =
  /** own: the contestant counts. */
  | { readonly kind: "none" | "memory" | "own" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "redis"; readonly key: string }
  | HoldersSection;

/** Every caller enters itself into a shared file, counts those in it, stays for a while, and leaves. */
export interface HoldersSection {
  readonly kind: "holders";
  readonly path: string;
  /** Place of the first caller of this process. */
  readonly from: number;
  /** More than this number at a time break the limit. Null: a writer must be alone, and readers may be many. */
  readonly most: number | null;
  readonly stayMs: number;
}

export interface CyclesReport {
  /** Acquired and released again, all of them. */
  readonly cycles: number;
  /** Of these, by each caller before the time was up. */
  readonly perCaller: readonly number[];
  /** When each turn began, by process.hrtime; empty without `notesTurns`. */
  readonly turnsAtMs: readonly number[];
  readonly longestWaitMs: number;
  /** Times that acquire() gave up, and was called again. */
  readonly gaveUp: number;
  readonly cpuMs: number;
  readonly requests: number;
  /** Sections that met another one inside, in this process; or more of them than may be. */
  readonly overlaps: number;
  /** With section "memory": cycles less the counter. */
  readonly lostUpdates: number;
  /** With section "own": what was counted before and after. */
  readonly counted: { readonly from: number; readonly to: number };
  readonly lastError: string | null;
}

/** The first task of a process. */
export interface FirstCyclesTask {
  readonly task: "first-cycles";
  readonly cycles: number;
  /** Each name begins with it. */
  readonly prefix: string;
}

export interface FirstCyclesReport {
  readonly tookMs: number;
  readonly cpuMs: number;
}

export interface ChecksTask {
  readonly task: "checks";
  readonly callers: number;
  readonly ms: number;
  readonly targets: number;
  readonly prefix: string;
  readonly max: number;
  readonly perMs: number;
}

export interface ChecksReport {
  readonly checks: number;
  readonly admitted: number;
  readonly tookMs: number;
  readonly longestMs: number;
  readonly cpuMs: number;
  readonly requests: number;
}

export interface AcquireTask {
  readonly task: "acquire";
  readonly name: string;
  readonly lane: number;
}

export interface AcquireReport {
  /** process.hrtime when acquire() had resolved. */
  readonly acquiredAtNs: string;
  readonly gaveUp: number;
}

export interface ReleaseTask {
  readonly task: "release";
  readonly lane: number;
}

export interface ReleaseReport {
  /** process.hrtime right before release() was called. */
  readonly releasedAtNs: string;
}

export interface HearTask {
  readonly task: "hear";
  readonly name: string;
}

export interface HearReport {
  /** process.hrtime when the wait had resolved; null: nothing was heard in time. */
  readonly heardAtNs: string | null;
}

export interface TellTask {
  readonly task: "tell";
  readonly name: string;
}

export interface TellReport {
  /** process.hrtime right before the call. */
  readonly toldAtNs: string;
  /** Whether anybody waited there, as far as this way of telling knows. */
  readonly isHeard: boolean;
}

export interface PushTask {
  readonly task: "push";
  readonly queue: string;
  readonly messages: number;
  /** Length of the JSON of a body; 0: as short as it can be. */
  readonly bytes: number;
  /** Messages go to one after the other. */
  readonly lanes: number;
  /** Pushes under way at the same time; or pushes a second, each with the time of its push, one at a time. */
  readonly pace: { readonly inFlight: number } | { readonly perSecond: number };
}

export interface PushReport {
  readonly tookMs: number;
  readonly cpuMs: number;
  readonly requests: number;
}

/** Ask for `run`, `consumed` and `stop` after it. */
export interface ConsumeTask {
  readonly task: "consume";
  readonly queue: string;
  readonly concurrency: number;
  /** As many as will be pushed. */
  readonly messages: number;
}

export interface ConsumeReport {
  /** process.hrtime of `run`, and of the latest message. */
  readonly startedAtNs: string;
  readonly endedAtNs: string;
  readonly cpuMs: number;
  readonly requests: number;
  /** A bit for each number of a message, as base64. */
  readonly seen: string;
  readonly handled: number;
  /** From the push to the handler, of messages that carry the time of their push. */
  readonly latenciesMs: readonly number[];
}

export interface HoldTask {
  readonly task: "hold";
  readonly names: number;
  readonly prefix: string;
  readonly ttlMs: number;
}

/** Waits for locks that others hold, to the end of the process. */
export interface StandTask {
  readonly task: "stand";
  readonly names: readonly string[];
}

/** Ask between `hold` and `let-go`, or where nothing is held. */
export interface WatchTask {
  readonly task: "watch";
  readonly ms: number;
  /** Looking for them costs more than many a process does. @default true */
  readonly stalls?: boolean;
}

export interface WatchReport {
  readonly requests: number;
  readonly cpuMs: number;
  readonly lost: number;
  /** Longest time in which the event loop stood still. */
  readonly worstStallMs: number;
  /** The longest that this process itself kept it still: CPU time within a stall. */
  readonly worstOwnStallMs: number;
}

export interface LetGoTask {
  readonly task: "let-go";
}

export interface Tasks {
  cycles: { in: CyclesTask; out: CyclesReport };
  "first-cycles": { in: FirstCyclesTask; out: FirstCyclesReport };
  checks: { in: ChecksTask; out: ChecksReport };
  acquire: { in: AcquireTask; out: AcquireReport };
  release: { in: ReleaseTask; out: ReleaseReport };
  hear: { in: HearTask; out: HearReport };
  tell: { in: TellTask; out: TellReport };
  hold: { in: HoldTask; out: { readonly tookMs: number } };
  stand: { in: StandTask; out: null };
  watch: { in: WatchTask; out: WatchReport };
  push: { in: PushTask; out: PushReport };
  consume: { in: ConsumeTask; out: null };
  run: { in: { readonly task: "run" }; out: null };
  consumed: { in: { readonly task: "consumed" }; out: { readonly handled: number } };
  stop: { in: { readonly task: "stop" }; out: ConsumeReport };
  "let-go": { in: LetGoTask; out: { readonly lost: number } };
}

export type Task = Tasks[keyof Tasks]["in"];

export interface Request {
  readonly id: number;
  readonly body: Task;
}

export type Answer =
  | { readonly id: number; readonly result: Tasks[keyof Tasks]["out"] }
  | { readonly id: number; readonly error: string };

/** The first message of a process, before any task. */
export interface Ready {
  readonly ready: true;
}
