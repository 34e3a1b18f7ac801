/** Work that is carried out once: the callers ask for the same slots of time at about the same time, as a schedule does. */
import { AcquireTimeoutError, type Lease, OnceFailedError } from "holdfast";
import { checkAnswers, checkFences, checkOneRun } from "../../../history/once-rules.js";
import type { Attempt } from "../caller.js";
import { lifeOf, planned } from "../scene.js";
import {
  type Caller,
  givenUp,
  type Rounds,
  round,
  type Scene,
  type Work,
  type Workload,
} from "../workload.js";

const keep = "30d";
const ownNumbers = "each process numbers its runs itself";
/** Longer than any lease of the dead, and the work of all others in line. */
const patientMs = 6_000;
/** Some work is long enough to be met by a fault, and to lose its lease. */
const longestWorkMs = 1_500;
const shortWorkMs = 150;
/** How soon every key has an answer when the faults are over: work may fail a few times before. */
const settleMs = 11_000;
const againMs = 100;
/** Requests of one call, one after the other, and their retries. */
const callsOfOnce = 10;

export const once: Workload = {
  name: "once",
  about: "callers carry out the work of slots of time, which takes a while, and fails now and then",
  rules: {
    O1: "all callers of a key get one result",
    O2: "no two runs of a key go on at the same time, as long as their leases are valid",
    O3: "where nothing fails, the work of a key runs once",
    O4: "when the process that ran has died, another one runs soon",
    O5: "the fences of the runs of a key rise",
  },
  invariants: {
    "a key has one result": "O1",
    "the fence of a key is that of its newest run": "O5",
  },
  canaries: [
    {
      rule: "O1",
      what: "the result is stored without its fence",
      seed: 31,
      change: { file: "once/result-store.ts", from: "fence: lease, keepMs", to: "fence: null, keepMs" },
    },
    {
      rule: "O1",
      what: "the second look does not raise the fence",
      seed: 513,
      change: {
        file: "once/once-runs.ts",
        from: "records.enter({ ...target, keepMs: guardMs }, lease)",
        to: "records.read(target)",
      },
    },
    {
      rule: "O2",
      what: "each caller has a lock of its own",
      seed: 1,
      change: {
        file: "once/once-runs.ts",
        from: "locks.mutex(name,",
        to: "locks.mutex(name + Math.random(),",
      },
    },
    {
      rule: "O3",
      what: "the result is kept for 50 ms",
      seed: 3,
      change: { file: "once/result-store.ts", from: "keepMs: target.keepMs", to: "keepMs: 50" },
    },
    {
      rule: "O4",
      what: "the lease lasts ten minutes",
      seed: 58,
      change: { file: "once/once-runs.ts", from: "{ ttl: ttlMs }", to: "{ ttl: 600_000 }" },
    },
    { rule: "O5", what: ownNumbers, seed: 2, isNaive: true },
  ],
  begin,
};

/** A run under way. */
interface Run {
  readonly key: string;
  readonly caller: Caller;
  readonly lease: Lease;
}

class WorkFailed extends Error {}

interface Shared {
  readonly scene: Scene;
  readonly slotMs: number;
  readonly errors: "retry" | "store";
  readonly running: Set<Run>;
  /** The number of the next run. */
  count: number;
  answers: number;
  /** When anything of a key was first asked for. */
  readonly askedMs: Map<string, number>;
  /** Keys of runs whose process closed meanwhile, or whose caller gave up: the next one ran. */
  readonly closed: Set<string>;
}

function begin(scene: Scene): Work {
  const dice = scene.world.dice("once");
  const shared: Shared = {
    scene,
    slotMs: dice.pick([150, 400, 1_000]),
    errors: dice.chance(0.3) ? "store" : "retry",
    running: new Set(),
    count: 0,
    answers: 0,
    askedMs: new Map(),
    closed: new Set(),
  };
  return {
    join: (caller) => new Worker(caller, shared),
    closed(process) {
      for (const { key, caller } of shared.running)
        if (caller.process.name === process) shared.closed.add(key);
    },
    judge() {
      const { operations } = scene.history;
      const wasLost = (fromMs: number, toMs: number): boolean => scene.wasLost(fromMs, toMs);
      const lasting = operations.filter(({ key }) => !key.startsWith("forgotten "));
      const calm = operations.filter(({ key }) => isCalm(shared, key));
      for (const { property, message, atMs, operations: shown } of [
        ...checkAnswers(lasting, wasLost),
        ...checkFences(operations, wasLost),
        ...checkOneRun(calm),
      ]) {
        scene.fail(property, message, atMs, shown);
      }
    },
    progress: () => shared.answers,
    lastMs: 30_000,
  };
}

/** Whether the key was first asked for when nothing was left of any fault, and no run of it was ended by a close. */
function isCalm({ scene, askedMs, closed }: Shared, key: string): boolean {
  return (askedMs.get(key) ?? 0) >= scene.calmFromMs && !closed.has(key);
}

class Worker implements Rounds {
  readonly #caller: Caller;
  readonly #shared: Shared;
  /** Of the naive recipe. */
  #runs = 0n;

  constructor(caller: Caller, shared: Shared) {
    this.#caller = caller;
    this.#shared = shared;
    this.kinds = { ...this.kinds, ...this.#otherKinds() };
  }

  readonly kinds: Rounds["kinds"] = {
    ask: round(
      (late: number, waitMs: number) => this.#ask(`slot ${Math.max(0, this.#slot - late)}`, waitMs),
      1,
      // Now and then somebody comes late.
      (dice) => [dice.chance(0.2) ? 1 : 0, dice.pick([0, 100, 1_000, patientMs])],
    ),
  };

  #otherKinds(): Rounds["kinds"] {
    return {
      "give up": round(
        (afterMs: number) => {
          const key = `slot ${this.#slot}`;
          // A run that its caller gives up is no outcome: another one runs.
          this.#shared.closed.add(key);
          return this.#ask(key, patientMs, this.#caller.givesUpAfter(afterMs));
        },
        0.5,
        (dice) => [dice.pick([0, 1, 50, 500])],
      ),
      forget: round(() => this.#forget(), 0.3),
    };
  }

  /** Of keys that nobody asks for otherwise: what is forgotten runs again. */
  async #forget(): Promise<void> {
    const { hf } = this.#caller;
    const key = `forgotten ${this.#slot % 3}`;
    await this.#ask(key, 0);
    await this.#caller.attempt("forget", key, () => hf.once.forget(key));
    this.#shared.closed.add(key);
  }

  get #slot(): number {
    return Math.floor(this.#shared.scene.world.nowMs / this.#shared.slotMs);
  }

  /** The keys whose runs died, and one more: each must have an answer now. */
  async last(): Promise<void> {
    const { scene } = this.#caller;
    const died = scene.history.operations.filter(
      ({ f, retMs, process }) => f === "run" && retMs === null && scene.deathsMs.has(lifeOf(process)),
    );
    for (const key of new Set([...died.map(({ key }) => key), "last"])) {
      const untilMs = this.#caller.process.nowMs + settleMs;
      while (!this.#caller.isClosing && !(await this.#hasAnswer(key))) {
        if (this.#caller.process.nowMs < untilMs) continue;
        scene.fail(
          "O4",
          `"${key}" had no answer for ${this.#caller.name} within ${settleMs} ms after the faults`,
        );
        return;
      }
    }
  }

  async #hasAnswer(key: string): Promise<boolean> {
    const asked = await this.#ask(key, patientMs);
    if (asked.type === "ok") return asked.value !== null;
    if (asked.error instanceof AcquireTimeoutError) {
      const waited = `${this.#caller.name} waited ${patientMs} ms for "${key}", and the faults were over`;
      this.#caller.scene.fail("O4", waited, undefined, [asked.operation]);
    }
    await this.#caller.process.sleep(againMs);
    return false;
  }

  async #ask(key: string, waitMs: number, signal?: AbortSignal): Promise<Attempt<number | null>> {
    const { askedMs, scene } = this.#shared;
    const { plan } = this.#caller;
    if (!askedMs.has(key)) askedMs.set(key, scene.world.nowMs);
    const attempt = await this.#caller.attempt("once", key, () => this.#once(key, waitMs, signal), {
      reason: givenUp,
      withinMs: waitMs + longestWorkMs + plan.ttlMs + callsOfOnce * plan.callTimeoutMs,
      found: (value) => (value === null ? {} : { value }),
    });
    if (attempt.type === "ok" && attempt.value !== null) this.#shared.answers += 1;
    return attempt;
  }

  /** The number of the run whose outcome this is; null: the own work failed, which is no outcome. */
  async #once(key: string, wait: number, signal: AbortSignal | undefined): Promise<number | null> {
    const { hf, plan } = this.#caller;
    const options = { keep, wait, ttl: plan.ttlMs, errors: this.#shared.errors, signal } as const;
    try {
      return (await hf.once(key, (lease) => this.#work(key, lease), options)).value;
    } catch (error) {
      if (error instanceof WorkFailed) return null;
      if (error instanceof OnceFailedError) return Number(error.failure.message);
      throw error;
    }
  }

  async #work(key: string, lease: Lease): Promise<number> {
    const { scene, dice, process, recorder, isOver } = this.#caller;
    const { running, errors } = this.#shared;
    const value = ++this.#shared.count;
    this.#runs += 1n;
    const run: Run = { key, caller: this.#caller, lease };
    const token = scene.canary === ownNumbers ? this.#runs : lease.fence;
    const pending = recorder.begin("run", key, { token, value });
    this.#judgeOthers(run);
    running.add(run);
    try {
      const isLong = !isOver && dice.chance(0.5);
      await process.sleep(dice.between(0, isLong ? longestWorkMs : shortWorkMs));
      if (!isOver && dice.chance(0.15)) throw new WorkFailed(String(value));
      if (dice.chance(0.3)) lease.check();
      // A close() releases the lock of a run that is under way, and the next one runs.
      if (this.#caller.isClosing) pending.fail("closed");
      else pending.ok();
      return value;
    } catch (error) {
      // A stored error is an outcome like any other.
      if (errors === "store" && error instanceof WorkFailed) pending.ok();
      else pending.fail(String(error));
      throw error;
    } finally {
      running.delete(run);
      if (this.#caller.isClosing) this.#shared.closed.add(key);
    }
  }

  #judgeOthers({ key, lease }: Run): void {
    const { scene, name } = this.#caller;
    const isExcused = (caller: Caller): boolean => scene.mayOverlap(planned(caller.process.name));
    if (!lease.valid || isExcused(this.#caller)) return;
    for (const other of this.#shared.running) {
      // One that stands still does no work, and looks at both clocks when it goes on.
      if (other.key !== key || !other.caller.process.isAwake || !other.lease.valid) continue;
      if (isExcused(other.caller)) continue;
      const message = `${name} began to work on "${key}" (fence ${lease.fence}) while ${other.caller.name} did (fence ${other.lease.fence})`;
      scene.fail("O2", message);
    }
  }
}
