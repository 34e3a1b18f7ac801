/** Caller: one thread of a program. It does rounds of its workload until the faults are over, and then its last one. */
import {
  ClosedError,
  type Holdfast,
  HoldfastError,
  IndeterminateError,
  InvalidArgumentError,
  ServerError,
} from "holdfast";
import type { Redlock } from "holdfast/redlock";
import type { Dice } from "../../chance/dice.js";
import type { Operation } from "../../history/operation.js";
import type { Details, Recorder } from "../../history/recorder.js";
import type { Process } from "../process.js";
import type { ProcessPlan } from "./plan.js";
import { drawRound, mistakeIn, type Round, type Rounds, rest } from "./rounds.js";
import type { Scene } from "./scene.js";
import { Timed } from "./timed.js";

/** How soon every call must succeed once the faults are over. */
const settleMs = 11_000;
const againMs = 100;
/** A wait that is as long outlives a refusal that passes. */
const longWaitMs = 1_000;
/** A refusal by the server is doubtful as well: the client may have sent again what had been carried out. */
const doubtful = [IndeterminateError, ClosedError, ServerError];

/** The reason of a program that does not wait any more. */
export const givenUp = new Error("the program gives it up");

function isDoubtful(error: unknown): boolean {
  return doubtful.some((one) => error instanceof one);
}

export interface CallerParts {
  readonly scene: Scene;
  readonly process: Process;
  readonly plan: ProcessPlan;
  /** A Redlock where the plan has several nodes. */
  readonly library: Holdfast | Redlock;
}

export interface AttemptOptions<Value> {
  /** How long the call may take on its caller's clock (P3). @default twice the call's time-out */
  readonly withinMs?: number;
  /** The `wait` that the call was given: it may take so long, and null comes no earlier. */
  readonly waitMs?: number;
  /** The reason with which the caller aborts the call: a rejection with it is no failure. */
  readonly reason?: unknown;
  /** By which the caller gives the call up, which settles soon after (P3). */
  readonly signal?: AbortSignal | undefined;
  /** Written down when the call begins. */
  readonly details?: Details;
  /** Written down when the call has succeeded. */
  readonly found?: (value: Value) => Details;
}

/** When a call began. */
interface Since {
  readonly sinceMs: number;
  /** On the clock of its process. */
  readonly monoMs?: number;
  readonly waitMs?: number | undefined;
}

export type Attempt<Value> =
  | { readonly type: "ok"; readonly value: Value; readonly operation: Operation }
  | { readonly type: "fail" | "info"; readonly error: unknown; readonly operation: Operation };

export class Caller {
  /** "p1.2": the second caller of p1; "p1#3.2" in the third life of p1. */
  readonly name: string;
  readonly scene: Scene;
  readonly process: Process;
  readonly plan: ProcessPlan;
  readonly #library: Holdfast | Redlock;
  readonly #choices: Dice;
  readonly #done: Round[] = [];
  /** Of the round under way: what another round draws does not change it. */
  dice: Dice;
  readonly recorder: Recorder;
  /** Its Holdfast or Redlock is about to be closed, or is. */
  isClosing = false;

  constructor(name: string, { scene, process, plan, library }: CallerParts) {
    this.name = name;
    this.scene = scene;
    this.process = process;
    this.plan = plan;
    this.#library = library;
    this.dice = scene.world.dice(`caller ${name}`);
    this.#choices = scene.world.dice(`rounds of ${name}`);
    scene.rounds.set(name, this.#done);
    this.recorder = scene.history.recorder(name, () => process.nowMs);
  }

  /** In a run with one node. */
  get hf(): Holdfast {
    return this.#library as Holdfast;
  }

  /** In a run with several nodes. */
  get redlock(): Redlock {
    return this.#library as Redlock;
  }

  /** It begins nothing more. */
  get isOver(): boolean {
    return this.scene.isEnding || this.isClosing;
  }

  /** By which the program gives a call up after that time; null: it never does. */
  givesUpAfter(afterMs: number | null): AbortSignal {
    const stop = new AbortController();
    if (afterMs !== null) this.process.after(afterMs, () => stop.abort(givenUp));
    return stop.signal;
  }

  /** For a stream: some end before their process does. */
  endOfStream(): AbortSignal {
    const dice = this.scene.world.dice(`stream of ${this.name} at ${this.process.nowMs}`);
    return this.givesUpAfter(dice.chance(0.2) ? dice.between(0, 1_000) : null);
  }

  /** Works until the faults are over, and then does its last round. */
  async work(rounds: Rounds): Promise<void> {
    const { world, plan } = this.scene;
    for (const round of plan.rounds?.[this.name] ?? []) {
      const mistake = mistakeIn(round, rounds);
      if (mistake !== null) {
        this.scene.fail("plan", `${this.name} is to do ${mistake}, in ${plan.workload}`);
        return;
      }
    }
    for (let number = 1; ; number += 1) {
      const [pauseMs, kind, ...given] = this.#next(rounds, number);
      // Its process may end while it pauses.
      this.#done.push([pauseMs, rest]);
      await this.process.sleep(pauseMs);
      if (this.isOver) break;
      this.#done[number - 1] = [pauseMs, kind, ...given];
      this.dice = world.dice(`round ${number} of ${this.name}`);
      await rounds.kinds[kind]?.run(given);
    }
    this.dice = world.dice(`last round of ${this.name}`);
    if (!this.isClosing) await rounds.last?.();
  }

  /** As the plan has it, or drawn. */
  #next(rounds: Rounds, number: number): Round {
    const { plan } = this.scene;
    if (!plan.rounds) return drawRound(this.#choices, rounds, plan.thinkMs);
    return plan.rounds[this.name]?.[number - 1] ?? [plan.thinkMs, rest];
  }

  /**
   * Carries out one call, writes it down, and judges its time (P3). An error of no cause that is known to the library,
   * and the end by a close() that did not happen, are failures of the run.
   */
  async attempt<Value>(
    f: string,
    key: string,
    call: () => Promise<Value>,
    {
      withinMs = this.plan.callTimeoutMs * 2,
      waitMs,
      reason,
      signal,
      details,
      found,
    }: AttemptOptions<Value> = {},
  ): Promise<Attempt<Value>> {
    const timeoutMs = waitMs === undefined ? withinMs : Math.max(waitMs, withinMs);
    const timed = new Timed(this.scene, this.process, `${f} of "${key}"`, timeoutMs);
    const aborted = (): void => timed.aborted();
    signal?.addEventListener("abort", aborted);
    const pending = this.recorder.begin(f, key, details);
    const sinceMs = this.scene.world.nowMs;
    const { monoMs } = this.process;
    try {
      const value = await call();
      if (waitMs !== undefined && value === null) timed.timedOut(waitMs);
      this.scene.mustBeOurs(value, `${f} of "${key}" by ${this.name}`);
      return { type: "ok", value, operation: pending.ok(found?.(value)) };
    } catch (error) {
      const why: unknown = reason ?? signal?.reason;
      const isAborted = why !== undefined && error === why;
      const code = isAborted ? "aborted" : this.#codeOf(error, `${f} of "${key}"`);
      if (error instanceof ServerError)
        this.judgeRefusal(error, `${f} of "${key}"`, { sinceMs, monoMs, waitMs });
      if (isAborted || isDoubtful(error)) return { type: "info", error, operation: pending.info(code) };
      return { type: "fail", error, operation: pending.fail(code) };
    } finally {
      signal?.removeEventListener("abort", aborted);
      timed.settled();
    }
  }

  /** Repeats a call until it succeeds. P1 says that it does so soon after all faults are over. */
  async insist<Value>(f: string, key: string, call: () => Promise<Value>): Promise<Value | undefined> {
    const { process } = this;
    const untilMs = process.nowMs + settleMs;
    while (!this.isClosing) {
      const attempt = await this.attempt(f, key, call, { withinMs: settleMs });
      if (attempt.type === "ok") return attempt.value;
      if (process.nowMs > untilMs) {
        this.scene.fail("P1", `${f} of "${key}" by ${this.name} failed for ${settleMs} ms after all faults`);
        return undefined;
      }
      await process.sleep(againMs);
    }
    return undefined;
  }

  /** The server refuses nothing without a reason, and a wait goes on where the reason passes. */
  judgeRefusal(error: ServerError, what: string, { sinceMs, monoMs = 0, waitMs = 0 }: Since): void {
    const { scene, name } = this;
    const { passing, message } = error;
    if (!scene.mayRefuse(error, sinceMs))
      scene.fail("error", `${what} by ${name}, and nothing in the plan explains it: ${message}`);
    else if (passing && waitMs >= longWaitMs && this.process.monoMs < monoMs + waitMs)
      scene.fail("error", `${what} by ${name} was to wait for ${waitMs} ms: ${message}`);
  }

  #codeOf(error: unknown, what: string): string {
    const { scene, name } = this;
    if (error instanceof ClosedError && !this.isClosing)
      scene.fail("error", `${what} by ${name} was ended by a close() that nobody called`);
    if (error instanceof InvalidArgumentError) scene.fail("error", `${what} by ${name}: ${error.message}`);
    if (error instanceof HoldfastError) return error.code;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    scene.fail("error", `${what} by ${name} rejected with ${text}`);
    return "unexpected";
  }
}
