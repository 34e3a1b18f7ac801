/** Writes down what one process does. One recorder per process: it alone counts that process's operations. */
import type { Operation } from "./operation.js";

/** What is known when an operation begins, or is added when it ends. */
export type Details = Partial<Omit<Operation, "process" | "seq" | "f" | "key" | "invMs" | "retMs" | "type">>;

/** An operation that has begun. Exactly one of these ends it; a process that dies calls none. */
export interface Pending {
  ok(details?: Details): Operation;
  /** It certainly had no effect. */
  fail(error: string, details?: Details): Operation;
  /** Nobody knows whether it had one. */
  info(error: string, details?: Details): Operation;
}

export class Recorder {
  readonly process: string;
  readonly #nowMs: () => number;
  readonly #take: (operation: Operation) => void;
  #seq = 0;

  /**
   * `take` is given every operation twice: when it begins, as one of unknown outcome that never returned, and when it
   * ends. Where the process dies in between, the first is what is known.
   */
  constructor(process: string, nowMs: () => number, take: (operation: Operation) => void) {
    this.process = process;
    this.#nowMs = nowMs;
    this.#take = take;
  }

  begin(f: string, key: string, details: Details = {}): Pending {
    const { process } = this;
    const begun: Operation = {
      process,
      seq: this.#seq++,
      f,
      key,
      invMs: this.#nowMs(),
      retMs: null,
      type: "info",
      ...details,
    };
    this.#take(begun);
    let isOver = false;
    const end = (type: Operation["type"], more: Details): Operation => {
      if (isOver) throw new Error(`${f} of ${this.process} has ended before`);
      isOver = true;
      const operation = { ...begun, ...more, retMs: this.#nowMs(), type };
      this.#take(operation);
      return operation;
    };
    return {
      ok: (more = {}) => end("ok", more),
      fail: (error, more = {}) => end("fail", { ...more, error }),
      info: (error, more = {}) => end("info", { ...more, error }),
    };
  }
}
