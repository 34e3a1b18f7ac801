/** FamilyCaller: a program that nests locks in any order, takes several at once, hands leases over, and adopts those of others. */
import { AsyncResource } from "node:async_hooks";
import { DeadlockError, type Lease, type LeaseHandle, type MultiLockPart, type Semaphore } from "holdfast";
import type { Dice } from "../../../../chance/dice.js";
import { type Caller, type Rounds, round, type Scene } from "../../workload.js";
import type { Actor, Holding, Ledger, Part } from "./ledger.js";
import { longestHoldMs, Several } from "./several.js";

const total = { mutex: 1, semaphore: 2, rwlock: 1_000_000_000 } as const;
/** The locks of a run. */
export const names = { mutex: ["a", "b", "c"], semaphore: ["pool"], rwlock: ["book"] } as const;

/** A lease on its way from one program to another. */
export interface Handed {
  readonly part: Part;
  readonly handle: LeaseHandle;
  readonly fence: bigint;
  /** By then it is free. */
  readonly endMs: number;
  /** The fences of those who adopted it. */
  readonly adopted: bigint[];
}

export interface Run {
  readonly scene: Scene;
  readonly ledger: Ledger;
  readonly handed: Handed[];
  /** Number of the job that was done last, and whose turn is next. */
  job: number;
}

/** A lock of any kind. A mutex takes no notice of permits. */
type AnyLock = Pick<Semaphore, "acquire" | "run">;

interface Hand {
  readonly holding: Holding;
  /** Runs code as that of the owner. */
  enter(work: () => Promise<void>): Promise<void>;
  release(): Promise<unknown>;
}

const waitsMs = [50, 400, 1_500, 4_000] as const;
/** Longer than all circles of all callers, one after the other. */
export const lastMs = 15_000;

function limitOf(dice: Dice): { readonly maxHold?: number } {
  return dice.chance(0.3) ? { maxHold: dice.pick([100, 1_000]) } : {};
}

/** C5: the lease of a re-entry says what its own lease says. */
function judgeInner({ scene, process }: Caller, again: Lease, { fence, valid, remainingMs }: Lease): void {
  // One that was over by then is no lease to enter.
  if (again.fence !== fence) return;
  const { heldUpMs } = process;
  let isLive = true;
  try {
    again.check();
  } catch {
    isLive = false;
  }
  const says = { valid: again.valid, isLive, isWhole: !again.signal.aborted, remainingMs: again.remainingMs };
  const isSame = says.valid === valid && isLive === valid && says.remainingMs === remainingMs;
  // A process may stand still at each look at its clock.
  const isWrong = !isSame || (valid && !says.isWhole);
  if (isWrong && process.heldUpMs === heldUpMs)
    scene.fail("C5", `a lease says ${valid}, ${remainingMs} ms, and its re-entry ${JSON.stringify(says)}`);
}

export class FamilyCaller implements Rounds {
  readonly #caller: Caller;
  readonly #run: Run;
  readonly #several: Several;
  readonly kinds: Rounds["kinds"] = {
    nest: round(
      (count: number, waitMs: number) => this.#nest(this.#actor(), this.#parts(count), waitMs),
      4,
      (dice) => [dice.whole(2, 3), dice.pick(waitsMs)],
    ),
    many: round(
      (count: number, waitMs: number) => this.#several.take(this.#actor(), this.#parts(count), waitMs),
      2,
      (dice) => [dice.whole(2, 3), dice.chance(0.3) ? 0 : dice.pick(waitsMs)],
    ),
    "hand over": round(
      (waitMs: number) => this.#handOver(this.#actor(), waitMs),
      1,
      (dice) => [dice.pick(waitsMs)],
    ),
    adopt: round(() => this.#adopt(this.#actor())),
    job: round(
      (waitMs: number) => this.#job(waitMs),
      1,
      (dice) => [dice.pick(waitsMs)],
    ),
  };

  constructor(caller: Caller, run: Run) {
    this.#caller = caller;
    this.#run = run;
    this.#several = new Several(
      caller,
      run,
      (parts) => caller.hf.multiLock(parts.map((part) => this.#partOf(part))),
      (actor, error) => this.#judgeError(actor, error),
    );
    const runMany = round(
      (count: number, waitMs: number) => this.#several.run(this.#actor(), this.#parts(count), waitMs),
      1,
      (dice) => [dice.whole(2, 3), dice.pick(waitsMs)],
    );
    const atOnce = round(() => {
      const [one = "a", other = "b"] = this.#dice.shuffle([...names.mutex]);
      return this.#several.bothAtOnce([one, other]);
    });
    this.kinds = { ...this.kinds, "run under many": runMany, "both at once": atOnce };
  }

  get #dice(): Dice {
    return this.#caller.dice;
  }

  #actor(): Actor {
    return { caller: this.#caller, owner: this.#dice.chance(0.5) ? {} : null };
  }

  /** Once more in any order, where nothing disturbs it. A circle is no reason not to be served at last. */
  async last(): Promise<void> {
    const { process } = this.#caller;
    const actor: Actor = { caller: this.#caller, owner: {} };
    const parts = this.#parts(2);
    const untilMs = process.nowMs + lastMs;
    while (!(await this.#nest(actor, parts, lastMs))) {
      if (this.#caller.isClosing || process.state === "dead") return;
      if (process.nowMs > untilMs) {
        const all = parts.map(({ name }) => name).join(", ");
        this.#run.scene.fail("C3", `${this.#caller.name} did not get ${all}: somebody keeps what nobody has`);
        return;
      }
      await this.#pause(longestHoldMs);
    }
  }

  /** As many parts, of different locks, in any order. */
  #parts(count: number): readonly Part[] {
    const dice = this.#dice;
    const all: readonly Part[] = [
      ...names.mutex.map((name) => ({ noun: "mutex", name, weight: 1, total: 1 }) as const),
      ...names.semaphore.map(
        (name) => ({ noun: "semaphore", name, weight: dice.whole(1, 2), total: total.semaphore }) as const,
      ),
      ...names.rwlock.map(
        (name) =>
          ({ noun: "rwlock", name, weight: dice.pick([1, total.rwlock]), total: total.rwlock }) as const,
      ),
    ];
    return dice.shuffle([...all]).slice(0, count);
  }

  /** Whether it got all of them. */
  async #nest(actor: Actor, parts: readonly Part[], waitMs: number): Promise<boolean> {
    const [part, ...rest] = parts;
    if (!part) return true;
    const hand = await this.#take(actor, part, waitMs);
    if (!hand) return false;
    let isWhole = false;
    await hand.enter(async () => {
      await this.#pause(longestHoldMs);
      if (part.noun === "mutex" && this.#dice.chance(0.3)) await this.#reenter(actor, hand.holding);
      isWhole = await this.#nest(actor, rest, waitMs);
    });
    await this.#release(hand);
    return isWhole;
  }

  async #take(actor: Actor, part: Part, waitMs: number): Promise<Hand | null> {
    const wait = this.#run.ledger.wait(actor, [part]);
    const attempt = await this.#caller.attempt(
      "acquire",
      part.name,
      () => (actor.owner ? this.#acquire(actor.owner, part, waitMs) : this.#runUnder(part, waitMs)),
      {
        withinMs: waitMs + 2 * this.#caller.plan.callTimeoutMs,
        details: { value: part.weight },
        found: ({ lease }) => ({ token: lease.fence, nonce: lease.id }),
      },
    );
    this.#run.ledger.end(wait);
    if (attempt.type !== "ok") {
      this.#judgeError(actor, attempt.error);
      return null;
    }
    const { lease, enter, release } = attempt.value;
    return { holding: this.#run.ledger.begin(actor, part, lease), enter, release };
  }

  async #acquire(
    owner: object,
    part: Part,
    waitMs: number,
  ): Promise<Omit<Hand, "holding"> & { lease: Lease }> {
    const lease = await this.#lock(part).acquire({ ...this.#permits(part), wait: waitMs, owner });
    return { lease, enter: (work) => work(), release: () => lease.release() };
  }

  /** The same by `run`, whose work waits for the release. */
  #runUnder(part: Part, waitMs: number): Promise<Omit<Hand, "holding"> & { lease: Lease }> {
    return new Promise((resolve, reject) => {
      const work = (lease: Lease): Promise<void> =>
        new Promise((finish) => {
          const scope = new AsyncResource("run");
          const release = async (): Promise<void> => {
            finish();
            await running;
          };
          resolve({ lease, enter: (inner) => scope.runInAsyncScope(inner), release });
        });
      const running = this.#lock(part).run(work, { ...this.#permits(part), wait: waitMs });
      running.catch(reject);
    });
  }

  /** C5 */
  async #reenter({ owner }: Actor, { part, lease }: Holding): Promise<void> {
    if (!lease.valid) return;
    const { scene } = this.#run;
    const mutex = this.#lock(part);
    const attempt = await this.#caller.attempt("re-enter", part.name, () =>
      mutex.acquire({ wait: 1_000, ...(owner ? { owner } : {}) }),
    );
    if (attempt.type !== "ok") {
      if (lease.valid)
        scene.fail(
          "C5",
          `${this.#caller.name} holds "${part.name}" and could not enter it again: ${attempt.error}`,
        );
      return;
    }
    const again = attempt.value;
    // A lease that was over by then is no lease to enter.
    if ((again.fence !== lease.fence || again.id !== lease.id) && lease.valid)
      scene.fail(
        "C5",
        `${this.#caller.name} holds "${part.name}" with ${lease.fence}, and entered it with ${again.fence}`,
      );
    const wasValid = again.valid;
    judgeInner(this.#caller, again, lease);
    await again.release();
    if (again.valid || (wasValid && !lease.valid && scene.plan.faults.length === 0))
      scene.fail(
        "C5",
        `the release of a re-entry of "${part.name}" by ${this.#caller.name} ended the wrong lease`,
      );
  }

  async #handOver(actor: Actor, waitMs: number): Promise<void> {
    const { scene, ledger, handed } = this.#run;
    const [part] = this.#parts(1);
    const hand = part && (await this.#take({ ...actor, owner: {} }, part, waitMs));
    if (!hand) return;
    await this.#pause(longestHoldMs);
    const { lease } = hand.holding;
    const isNaive = scene.canary === "a release, and an acquire by the other";
    const { plan, process } = this.#caller;
    ledger.end(hand.holding);
    const attempt = await this.#caller.attempt("hand over", part.name, () => lease.handOver(), {
      withinMs: 3 * plan.callTimeoutMs,
    });
    if (attempt.type !== "ok") {
      await this.#caller.attempt("release", part.name, () => hand.release(), {
        withinMs: 3 * plan.callTimeoutMs,
      });
      return;
    }
    const handle = JSON.parse(JSON.stringify(attempt.value)) as LeaseHandle;
    if (isNaive) await (await this.#caller.hf.adopt(handle).catch(() => lease)).release();
    handed.push({ part, handle, fence: lease.fence, endMs: process.nowMs + 2 * plan.ttlMs, adopted: [] });
  }

  async #adopt(actor: Actor): Promise<void> {
    const { scene, ledger, handed } = this.#run;
    const one = handed.findLast(({ adopted }) => adopted.length === 0 || this.#dice.chance(0.2));
    if (!one) return;
    const { part, handle } = one;
    const { hf, plan, name } = this.#caller;
    const owner = { owner: {} };
    const isNaive = scene.canary === "a release, and an acquire by the other";
    const attempt = await this.#caller.attempt(
      "adopt",
      part.name,
      () =>
        isNaive
          ? this.#lock(part).acquire({ ...this.#permits(part), ...owner, wait: 1_000 })
          : hf.adopt(handle, { ttl: plan.ttlMs, ...owner, ...limitOf(this.#dice) }),
      { withinMs: 1_000 + 3 * plan.callTimeoutMs, found: ({ fence, id }) => ({ token: fence, nonce: id }) },
    );
    if (attempt.type !== "ok") return;
    const lease = attempt.value;
    if (lease.fence <= one.fence)
      scene.fail("C4", `${name} adopted "${part.name}" with ${lease.fence}, which had ${one.fence} before`);
    if (one.adopted.length > 0 && !scene.hasForgotten)
      scene.fail("C4", `${name} adopted "${part.name}" (${one.fence}), which another had adopted before`);
    one.adopted.push(lease.fence);
    const holding = ledger.begin({ ...actor, owner: owner.owner }, part, lease);
    await this.#pause(longestHoldMs);
    await this.#release({ holding, enter: (work) => work(), release: () => lease.release() });
  }

  /** C6: whoever comes when the job is done does not do it. */
  async #job(waitMs: number): Promise<void> {
    const run = this.#run;
    const job = run.job + 1;
    const unless = async (): Promise<boolean> => {
      await this.#pause(5);
      return run.job >= job;
    };
    const mutex = this.#caller.hf.mutex("job", { ttl: this.#caller.plan.ttlMs });
    const work = async (lease: Lease): Promise<void> => {
      const { scene } = run;
      if (run.job >= job && lease.valid)
        scene.fail("C6", `${this.#caller.name} did job ${job}, which was done`);
      await this.#pause(longestHoldMs);
      if (lease.valid) run.job = Math.max(run.job, job);
    };
    const most = waitMs + 2 * longestHoldMs + 5 * this.#caller.plan.callTimeoutMs;
    await this.#caller.attempt("do", "job", () => mutex.run(work, { wait: waitMs, unless }), {
      withinMs: most,
    });
  }

  async #release({ holding, release }: Hand): Promise<void> {
    const { lease, part } = holding;
    this.#run.ledger.end(holding);
    await this.#caller.attempt("release", part.name, release, {
      withinMs: 3 * this.#caller.plan.callTimeoutMs,
      details: { token: lease.fence },
    });
  }

  /** C2 */
  #judgeError(actor: Actor, error: unknown): void {
    if (!(error instanceof Error) || (error as DeadlockError).code !== DeadlockError.code) return;
    const why = this.#run.ledger.refute(actor, error as DeadlockError);
    if (why) this.#run.scene.fail("C2", `${this.#caller.name} was told "${error.message}", but ${why}`);
  }

  #pause(mostMs: number): Promise<void> {
    return this.#caller.process.sleep(this.#dice.between(0, mostMs));
  }

  #permits({ noun, weight }: Part): { readonly permits?: number } {
    return noun === "semaphore" ? { permits: weight } : {};
  }

  #lock({ noun, name, weight }: Part): AnyLock {
    const { hf, plan } = this.#caller;
    const ttl = plan.ttlMs;
    if (noun === "mutex") return hf.mutex(name, { ttl, reentrant: true });
    if (noun === "semaphore") return hf.semaphore(name, { permits: total.semaphore, ttl });
    const lock = hf.rwLock(name, { ttl });
    return weight === 1 ? lock.read() : lock.write();
  }

  #partOf(part: Part): MultiLockPart {
    const { hf, plan } = this.#caller;
    if (part.noun !== "semaphore") return this.#lock(part) as unknown as MultiLockPart;
    const semaphore = hf.semaphore(part.name, { permits: total.semaphore, ttl: plan.ttlMs });
    return { semaphore, permits: part.weight };
  }
}
