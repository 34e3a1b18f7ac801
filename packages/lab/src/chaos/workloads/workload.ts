/**
 * Workload: what callers in real processes do with one noun of the library, beside those of the mutex, and how the
 * history is judged. `join` runs in the workers, `judge` in the process that started them.
 */
import type { Operation } from "../../history/operation.js";
import type { Breach } from "../../history/violation.js";
import { between, breaksOf } from "../breaks.js";
import type { Fault } from "../fault.js";
import type { Caller, Rounds } from "./caller.js";

export type { Caller, Rounds } from "./caller.js";

export interface Workload {
  /** As `npm run chaos -- --workloads` takes it: letters only. */
  readonly name: string;
  /** The recipe that callers with `isNaive` follow, in a few words: `judge` must find what is wrong with it. */
  readonly canary: string;
  /** Called for each caller in each life of a worker. */
  join(caller: Caller): Rounds;
  /** Called twice: with what the callers did, and with what the naive ones did. */
  judge(found: Found): Breach[];
}

/** What the callers of a workload did in one round, and what happened to them. All times count from the beginning. */
export class Found {
  /** Of this workload, in the order of their beginning. */
  readonly operations: readonly Operation[];
  readonly faults: readonly Fault[];
  /** When the faults were over. */
  readonly healedMs: number;
  readonly endMs: number;
  /** When workers died, by name ("w1#2"). */
  readonly deathsMs: ReadonlyMap<string, number>;

  constructor(about: Pick<Found, "operations" | "faults" | "healedMs" | "endMs" | "deathsMs">) {
    this.operations = about.operations;
    this.faults = about.faults;
    this.healedMs = about.healedMs;
    this.endMs = about.endMs;
    this.deathsMs = about.deathsMs;
  }

  /** Whether the server may have lost data within this time. */
  wasLost(fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY): boolean {
    return this.#wasBroken("memory", fromMs, toMs);
  }

  /** Whether the clock of the server was wrong, or was set, within this time. */
  wasClockWrong(fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY): boolean {
    return this.#wasBroken("time", fromMs, toMs);
  }

  /** The operations within each time in which the server kept its data and its clock was not set. */
  stretches(): Operation[][] {
    return between(breaksOf(this.faults)).map(({ fromMs, toMs }) =>
      this.operations.filter(({ invMs, retMs }) => invMs >= fromMs && (retMs ?? Infinity) <= toMs),
    );
  }

  #wasBroken(what: Fault["breaks"], fromMs: number, toMs: number): boolean {
    return this.faults.some((fault) => fault.breaks === what && fault.fromMs <= toMs && fault.toMs >= fromMs);
  }
}
