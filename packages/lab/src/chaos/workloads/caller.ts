/** Caller: one thread of a worker that does rounds of a workload until it must stop, and then its last one. */
import { ClosedError, type Holdfast, HoldfastError, IndeterminateError, ServerError } from "holdfast";
import type { Redis } from "ioredis";
import type { Dice } from "../../chance/dice.js";
import type { Operation } from "../../history/operation.js";
import type { Details, Recorder } from "../../history/recorder.js";
import { monoMs, pauseMs } from "../time.js";
import type { Nodes } from "../worker/nodes.js";

/** What one caller does. */
export interface Rounds {
  /** One operation. It is repeated, with a pause after each, until the faults are over. */
  round(): Promise<void>;
  /** Called once when the faults are over: here everything must succeed, or it rejects. */
  last?(): Promise<void>;
}

export interface CallerParts {
  /** "w1.record-0", "w1.naive-record-0" */
  readonly name: string;
  readonly hf: Holdfast;
  /** For naive recipes: a client without holdfast. */
  readonly redis: Redis;
  readonly nodes: Nodes;
  readonly dice: Dice;
  readonly recorder: Recorder;
  readonly callTimeoutMs: number;
  /** It follows the naive recipe, under keys of its own that begin with "canary:". */
  readonly isNaive: boolean;
  readonly isOver: () => boolean;
}

export interface AttemptOptions<Value> {
  /** How long the call may take, besides the time in which the process stood still. @default twice the call's time-out */
  readonly withinMs?: number;
  /** The reason with which the caller aborts the call: a rejection with it is no failure. */
  readonly reason?: unknown;
  /** Written down when the call begins. */
  readonly details?: Details;
  /** Written down when the call has succeeded. */
  readonly found?: (value: Value) => Details;
}

export type Attempt<Value> =
  | { readonly type: "ok"; readonly value: Value; readonly operation: Operation }
  | { readonly type: "fail" | "info"; readonly error: unknown; readonly operation: Operation };

/** Between two rounds. */
const PAUSE_MS = { low: 10, high: 100 };
/** How soon every call must succeed once the faults are over. */
const SETTLE_MS = 11_000;
const AGAIN_MS = 100;
/** In a round of two versions: this one does not read what the other has written. It says so, and nothing mends it. */
export function isOtherLayout(error: unknown): boolean {
  return error instanceof ServerError && error.serverCode === "LAYOUT";
}

const doubtful = [IndeterminateError, ClosedError, ServerError];

export class Caller {
  readonly name: string;
  readonly hf: Holdfast;
  readonly redis: Redis;
  readonly nodes: Nodes;
  readonly dice: Dice;
  readonly recorder: Recorder;
  readonly callTimeoutMs: number;
  readonly isNaive: boolean;
  readonly #isOver: () => boolean;

  constructor(parts: CallerParts) {
    this.name = parts.name;
    this.hf = parts.hf;
    this.redis = parts.redis;
    this.nodes = parts.nodes;
    this.dice = parts.dice;
    this.recorder = parts.recorder;
    this.callTimeoutMs = parts.callTimeoutMs;
    this.isNaive = parts.isNaive;
    this.#isOver = parts.isOver;
  }

  /** It begins nothing more. */
  get isOver(): boolean {
    return this.#isOver();
  }

  /** CLOCK_MONOTONIC, as the history has it. */
  get nowMs(): number {
    return monoMs();
  }

  pause(forMs: number): Promise<void> {
    return pauseMs(forMs);
  }

  async run(rounds: Rounds): Promise<void> {
    while (!this.isOver) {
      await rounds.round();
      await pauseMs(this.dice.between(PAUSE_MS.low, PAUSE_MS.high));
    }
  }

  /** Carries out one call and writes it down. Errors that are unknown to the library are thrown, unless it is naive. */
  async attempt<Value>(
    f: string,
    key: string,
    call: () => Promise<Value>,
    { withinMs = this.callTimeoutMs * 2, reason, details, found }: AttemptOptions<Value> = {},
  ): Promise<Attempt<Value>> {
    const limit = this.isNaive ? {} : { limitMs: withinMs };
    const pending = this.recorder.begin(f, key, { ...limit, ...details });
    try {
      const value = await call();
      return { type: "ok", value, operation: pending.ok(found?.(value)) };
    } catch (error) {
      const isAborted = reason !== undefined && error === reason;
      const isKnown = error instanceof HoldfastError;
      const code = isKnown ? error.code : isAborted ? "aborted" : String(error);
      // A refusal by the server is doubtful as well: the client may have sent again what had been carried out.
      const isDoubtful = !isKnown || doubtful.some((one) => error instanceof one);
      const operation = isDoubtful ? pending.info(code) : pending.fail(code);
      if (!isKnown && !isAborted && !this.isNaive) throw error;
      return { type: isDoubtful ? "info" : "fail", error, operation };
    }
  }

  /** Repeats a call until it succeeds. @throws {Error} it does not succeed soon */
  async insist<Value>(f: string, key: string, call: () => Promise<Value>): Promise<Value> {
    const untilMs = monoMs() + SETTLE_MS;
    for (;;) {
      const attempt = await this.attempt(f, key, call, { withinMs: SETTLE_MS });
      if (attempt.type === "ok") return attempt.value;
      if (isOtherLayout(attempt.error)) throw attempt.error;
      if (monoMs() > untilMs)
        throw new Error(`${this.name}: ${f} of "${key}" fails for ${SETTLE_MS} ms: ${attempt.error}`);
      await pauseMs(AGAIN_MS);
    }
  }
}
