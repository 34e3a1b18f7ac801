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
  /** Of the names; a new one for each question and contestant. */
  readonly prefix: string;
}

export type Section =
  | { readonly kind: "none" | "memory" }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "redis"; readonly key: string };

export interface CyclesReport {
  /** Acquired and released again, all of them. */
  readonly cycles: number;
  /** Of these, by each caller before the time was up. */
  readonly perCaller: readonly number[];
  readonly longestWaitMs: number;
  /** Times that acquire() gave up, and was called again. */
  readonly gaveUp: number;
  readonly cpuMs: number;
  readonly requests: number;
  /** Sections that met another one inside, in this process. */
  readonly overlaps: number;
  /** With section "memory": cycles less the counter. */
  readonly lostUpdates: number;
  readonly lastError: string | null;
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

export interface HoldTask {
  readonly task: "hold";
  readonly names: number;
  readonly prefix: string;
  readonly ttlMs: number;
}

/** Ask between `hold` and `let-go`. */
export interface WatchTask {
  readonly task: "watch";
  readonly ms: number;
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
  checks: { in: ChecksTask; out: ChecksReport };
  acquire: { in: AcquireTask; out: AcquireReport };
  release: { in: ReleaseTask; out: ReleaseReport };
  hold: { in: HoldTask; out: { readonly tookMs: number } };
  watch: { in: WatchTask; out: WatchReport };
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
