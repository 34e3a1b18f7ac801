/**
 * One operation of one process, as an observer outside saw it. A list of them is a history, and all a checker reads.
 *
 * Times are milliseconds of one clock for the whole history: true time in the simulator, the harness's CLOCK_MONOTONIC
 * where processes are real. They may be fractions.
 *
 * On one key a process does one thing after another, a "hold" apart, which lasts while it does them: where a program
 * does two at once, it is two processes. After an operation of unknown outcome a process may go on.
 *
 * A fault of the harness is an operation too: of the process "nemesis", `f` what it did ("pause"), `key` to whom.
 */
export interface Operation {
  /** Who. Names are free text; a process that starts again is another one ("w1", then "w1#2"). */
  readonly process: string;
  /** Counts the operations of a process from 0, in the order of their beginning. */
  readonly seq: number;
  /**
   * What: "acquire" and "release" of a lock; "hold", the time in which the process believed that it held the lock;
   * "enter", "read" and "write" of a guarded resource. Checkers pass over what they do not know.
   */
  readonly f: string;
  /** On what: the name of the lock, or of the resource. */
  readonly key: string;
  readonly invMs: number;
  /** null: it never returned. */
  readonly retMs: number | null;
  /**
   * "fail" only where it certainly had no effect: busy, refused, rejected. Whatever is doubtful (a timeout, a lost
   * connection, a process that died) is "info": it may have happened, at any time after `invMs`, even after `retMs`.
   */
  readonly type: "ok" | "fail" | "info";
  /** Fencing token that was granted, or that was sent along. */
  readonly token?: bigint;
  /** Tells this holder from another one with an equal token. */
  readonly nonce?: string;
  /** The server's clock when it decided, in microseconds. */
  readonly serverUs?: number;
  /** Until when the lease was said to be valid, on the clock of the history. */
  readonly validUntilMs?: number;
  /** Of a hold: when it ended, the earliest of release invoked, `validUntilMs`, and loss signalled. */
  readonly endMs?: number;
  /** Of a read, what was read; of a write, what was written. JSON, or a bigint. */
  readonly value?: unknown;
  /** How long the call may take by what its caller asked for, besides the time in which the process stood still. */
  readonly limitMs?: number;
  readonly error?: string;
}
