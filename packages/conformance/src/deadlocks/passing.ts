/** Time that a case about deadlocks lets pass, for processes that share one clock. */
import assert from "node:assert/strict";
import { DeadlockError, type Duration, type Holdfast, type Lease } from "holdfast";
import type { NounLab } from "../case.js";
import type { ManualClock } from "../clock.js";
import { until } from "../wait.js";

/** Shorter than the shortest pause between two looks. */
const STEP_MS = 50;
const TTL = "60s";

/** The outcome of a wait. */
export type Outcome = Lease | Error;

/** Processes that share a clock, which the case moves. */
export class Passing {
  readonly lab: NounLab;
  readonly clock: ManualClock;
  readonly #processes: Holdfast[] = [];

  constructor(lab: NounLab) {
    this.lab = lab;
    this.clock = lab.manualClock();
  }

  async process(label = ""): Promise<Holdfast> {
    const process = await this.lab.holdfast({ clock: this.clock, label });
    this.#processes.push(process);
    return process;
  }

  /** Moves the clock on, and lets every process send and hear. */
  async step(ms = STEP_MS): Promise<void> {
    this.clock.advance(ms);
    await Promise.all(this.#processes.map((process) => this.lab.settled(process)));
  }

  /** Lets time pass until the promise has settled. Returns its value or its error. */
  async outcome(promise: Promise<Lease>): Promise<Outcome> {
    let outcome: Outcome | null = null;
    promise.then(
      (lease) => {
        outcome = lease;
      },
      (error: unknown) => {
        outcome = error as Error;
      },
    );
    return until("the wait has ended", async () => {
      if (!outcome) await this.step();
      return outcome;
    });
  }

  /** Lets time pass until all have settled. */
  outcomes(promises: readonly Promise<Lease>[]): Promise<Outcome[]> {
    return Promise.all(promises.map((promise) => this.outcome(promise)));
  }

  /** Lets time pass until the code that holds the lease has looked `times` times more for a circle. */
  async looks(lease: Lease, times: number): Promise<void> {
    const before = await this.beatOf(lease);
    await until("the wait was looked at", async () => {
      await this.step();
      return (await this.beatOf(lease)) >= before + times;
    });
  }

  /** How often the waits of the code that holds the lease have looked; 0: nothing is written beside it. */
  async beatOf({ id }: Lease): Promise<number> {
    const text = await this.lab.command("GET", this.keyOf(id));
    if (typeof text !== "string") return 0;
    const { waits } = JSON.parse(text) as { readonly waits: readonly { readonly beat: number }[] };
    return Math.max(...waits.map(({ beat }) => beat));
  }

  keyOf(leaseId: string): string {
    return `${this.lab.prefix}:{${leaseId}}:waits`;
  }
}

/** Code of a process, in the name of which it holds and waits. */
export class Code {
  readonly #process: Holdfast;
  readonly #owner = {};

  constructor(process: Holdfast) {
    this.#process = process;
  }

  mutex(name: string, wait: Duration = "1h", signal?: AbortSignal): Promise<Lease> {
    return this.#process.mutex(name, { ttl: TTL }).acquire({ owner: this.#owner, wait, signal });
  }

  /** Whether somebody holds it. */
  async busy(name: string): Promise<boolean> {
    const lease = await this.#process.mutex(name, { ttl: TTL }).tryAcquire();
    await lease?.release();
    return lease === null;
  }

  read(name: string): Promise<Lease> {
    return this.#process.rwLock(name, { ttl: TTL }).read().acquire({ owner: this.#owner, wait: "1h" });
  }

  write(name: string): Promise<Lease> {
    return this.#process.rwLock(name, { ttl: TTL }).write().acquire({ owner: this.#owner, wait: "1h" });
  }

  permits(name: string, of: number, permits = 1): Promise<Lease> {
    const semaphore = this.#process.semaphore(name, { ttl: TTL, permits: of });
    return semaphore.acquire({ owner: this.#owner, wait: "1h", permits });
  }
}

/** Exactly one of the waits ends with the error; its code releases what it holds; all others are served. Returns the error. */
export async function oneVictim(
  passing: Passing,
  waits: readonly { readonly wait: Promise<Lease>; readonly held: readonly Lease[] }[],
): Promise<DeadlockError> {
  const victims: DeadlockError[] = [];
  const release = (leases: readonly Lease[]) => Promise.all(leases.map((lease) => lease.release()));
  const settled = waits.map(async ({ wait, held }) => {
    try {
      const lease = await wait;
      await release([lease, ...held]);
      return lease;
    } catch (error) {
      if (error instanceof DeadlockError) victims.push(error);
      await release(held);
      throw error;
    }
  });
  const outcomes: Outcome[] = await passing.outcomes(settled);
  const errors = outcomes.filter((outcome) => outcome instanceof Error);
  assert.deepEqual(errors, victims, "an error of another kind");
  assert.equal(victims.length, 1);
  return victims[0] as DeadlockError;
}
