/** Caller: a program that takes permits of a semaphore, reads and writes under a read-write lock, and gives back. */
import type { Inspector, Lease } from "holdfast";
import type { Dice } from "../../../../chance/dice.js";
import { type Caller, type Rounds, round, type Scene } from "../../workload.js";
import { allPermits, type Belief, type Beliefs, type PermitNoun } from "./beliefs.js";

export interface Run {
  readonly scene: Scene;
  readonly beliefs: Beliefs;
  readonly semaphore: string;
  readonly rwLock: string;
  /** Number of permits in the options of every process. */
  readonly permits: number;
  /** The number that callers set at run time, at most; null: nobody does. */
  readonly mostPermits: number | null;
  readonly localTurns: number;
  /** After which a lease ends; null: never. */
  readonly maxHoldMs: number | null;
  /** Whether operators take leases away. */
  readonly revokes: boolean;
}

const waitsMs = [5, 50, 300, 1_000, 4_000] as const;
const longShare = 0.15;
export const settleMs = 11_000;

interface Wish {
  readonly noun: PermitNoun;
  readonly permits: number;
  readonly waitMs: number;
  readonly signal?: AbortSignal;
}

export class PermitCaller implements Rounds {
  readonly #caller: Caller;
  readonly #run: Run;
  readonly kinds: Rounds["kinds"];
  /** The newest fence that it has had of the semaphore. */
  #newest = 0n;

  constructor(caller: Caller, run: Run) {
    this.#caller = caller;
    this.#run = run;
    const { permits, mostPermits } = run;
    const waitOf = (dice: Dice): number => (dice.chance(0.2) ? 0 : dice.pick(waitsMs));
    this.kinds = {
      semaphore: round(
        (count: number, waitMs: number) => this.#take("semaphore", count, waitMs),
        6,
        (dice) => [dice.pick([1, 1, permits]), waitOf(dice)],
      ),
      read: round(
        (waitMs: number) => this.#take("rwlock", 1, waitMs),
        4,
        (dice) => [waitOf(dice)],
      ),
      write: round(
        (waitMs: number) => this.#take("rwlock", allPermits, waitMs),
        2,
        (dice) => [waitOf(dice)],
      ),
      resize: round(
        (count: number) => this.#resize(count),
        mostPermits === null ? 0 : 1,
        (dice) => [dice.whole(0, mostPermits ?? permits)],
      ),
      revoke: round(
        () => this.#revoke(),
        run.revokes ? 1 : 0,
        () => [],
      ),
    };
  }

  get #dice(): Dice {
    return this.#caller.dice;
  }

  /** Takes permits, holds them for a moment or too long, and gives them back. */
  async #take(noun: PermitNoun, permits: number, waitMs: number): Promise<void> {
    const controller = new AbortController();
    const belief = await this.#acquire({
      noun,
      permits,
      waitMs,
      ...(this.#dice.chance(0.1) ? { signal: this.#abort(controller) } : {}),
    });
    if (!belief) return;
    const { ttlMs } = this.#caller.plan;
    await this.#hold(belief, this.#dice.between(0, this.#dice.chance(longShare) ? ttlMs * 2 : 80));
    if (belief.permits === allPermits && this.#dice.chance(0.4)) await this.#downgrade(belief);
    await this.#release(belief);
  }

  async last(): Promise<void> {
    const { scene, permits } = this.#run;
    const { hf, process } = this.#caller;
    if (this.#run.mostPermits !== null)
      await this.#caller.insist("set", this.#run.semaphore, () =>
        hf.semaphore(this.#run.semaphore, { permits }).setPermits(null),
      );
    const waitMs = Math.round(scene.keptMs + settleMs);
    for (const [noun, most] of [
      ["semaphore", permits],
      ["rwlock", allPermits],
    ] as const) {
      const belief = await this.#acquire({ noun, permits: most, waitMs });
      if (belief) await this.#release(belief);
      else if (!this.#caller.isClosing && process.state !== "dead")
        scene.fail("M4", `${this.#caller.name} was not served within ${waitMs} ms of all faults`);
    }
  }

  #abort(controller: AbortController): AbortSignal {
    this.#caller.process.after(this.#dice.between(0, 400), () => controller.abort("had enough"));
    return controller.signal;
  }

  #ask({ noun, permits, waitMs, signal }: Wish): Promise<Lease | null> {
    const { hf, plan } = this.#caller;
    const { dice, scene } = this.#caller;
    const more = !scene.isEnding && dice.chance(0.2) ? { unless: () => dice.chance(0.3) } : {};
    const wait = { wait: waitMs, ...(signal ? { signal } : {}), ...more };
    const floor = dice.chance(0.1) ? { floor: this.#newest, owner: {} } : {};
    const limit = this.#run.maxHoldMs === null ? {} : { maxHold: this.#run.maxHoldMs };
    if (noun === "semaphore") {
      const { permits: most, localTurns } = this.#run;
      const options = { permits: most, ttl: plan.ttlMs, localTurns, ...limit };
      const semaphore = hf.semaphore(this.#run.semaphore, options);
      return waitMs === 0
        ? semaphore.tryAcquire({ permits, ...floor })
        : semaphore.acquire({ permits, ...wait, ...floor });
    }
    const { localTurns } = this.#run;
    const lock = hf.rwLock(this.#run.rwLock, { ttl: plan.ttlMs, localTurns, ...limit });
    const side = permits === 1 ? lock.read() : lock.write();
    return waitMs === 0 ? side.tryAcquire(floor) : side.acquire({ ...wait, ...floor });
  }

  async #acquire(wish: Wish): Promise<Belief | null> {
    const { noun, permits, waitMs } = wish;
    const name = noun === "semaphore" ? this.#run.semaphore : this.#run.rwLock;
    const attempt = await this.#caller.attempt("acquire", name, () => this.#ask(wish), {
      withinMs: waitMs + 2 * this.#caller.plan.callTimeoutMs,
      reason: "had enough",
      details: { value: permits },
      found: (lease) => (lease ? { value: permits, token: lease.fence, nonce: lease.id } : {}),
    });
    if (attempt.type !== "ok" || !attempt.value) return null;
    const belief: Belief = { noun, permits, caller: this.#caller, lease: attempt.value };
    this.#run.beliefs.begin(belief);
    if (noun === "semaphore" && belief.lease.fence > this.#newest) this.#newest = belief.lease.fence;
    return belief;
  }

  async #hold(belief: Belief, forMs: number): Promise<void> {
    const steps = forMs > 80 ? 5 : 2;
    for (let step = 0; step < steps; step += 1) {
      if (!this.#run.beliefs.look(belief) || this.#run.scene.isEnding) return;
      await this.#caller.process.sleep(forMs / steps);
    }
  }

  /** From the moment at which it asks for it, it only reads. */
  async #downgrade(belief: Belief): Promise<void> {
    const { lease } = belief;
    if (!lease.valid) return;
    belief.permits = 1;
    const lock = this.#caller.hf.rwLock(lease.name).write();
    const attempt = await this.#caller.attempt("downgrade", lease.name, () => lock.downgrade(lease));
    if (attempt.type === "ok") await this.#hold(belief, this.#dice.between(0, 60));
  }

  async #release(belief: Belief): Promise<void> {
    const { lease } = belief;
    this.#run.beliefs.end(belief);
    await this.#caller.attempt("release", lease.name, () => lease.release(), {
      withinMs: 3 * this.#caller.plan.callTimeoutMs,
      details: { token: lease.fence },
      found: (value) => ({ value }),
    });
  }

  async #resize(permits: number): Promise<void> {
    const { semaphore } = this.#run;
    const handle = this.#caller.hf.semaphore(semaphore, { permits: this.#run.permits });
    await this.#caller.attempt("set", semaphore, () => handle.setPermits(permits), {
      details: { value: permits },
    });
  }

  /** M7: an operator takes away the permits of a holder, by the token of its lease, or by the one that the inspector shows. */
  async #revoke(): Promise<void> {
    const { beliefs, scene } = this.#run;
    // Some look for a moment for a lease that has changed hands within its process.
    for (let left = this.#dice.pick([0, 20]); left > 0 && beliefs.later.length === 0; left -= 1)
      await this.#caller.process.sleep(20);
    const { live, later } = beliefs;
    if (live.length === 0 || scene.isEnding) return;
    const belief = this.#dice.pick(later.length > 0 ? later : live);
    const { noun, lease } = belief;
    const isSemaphore = noun === "semaphore";
    const inspect = <Result>(f: string, ask: (inspector: Inspector) => Promise<Result>) =>
      this.#caller.attempt(f, lease.name, async () => ask(await this.#caller.hf.inspector()));
    const sinceMs = scene.world.nowMs;
    let { fence } = lease;
    if (this.#dice.chance(0.5)) {
      const looked = await inspect("look", (inspector) =>
        isSemaphore ? inspector.semaphore(lease.name) : inspector.rwLock(lease.name),
      );
      const holder = looked.type === "ok" && looked.value.holders.find(({ id }) => id === lease.id);
      if (!holder) return;
      fence = holder.fence;
    }
    beliefs.revoke(lease.id);
    const revoked = await inspect("revoke", (inspector) =>
      isSemaphore
        ? inspector.forceReleasePermits(lease.name, fence)
        : inspector.forceReleaseRwLock(lease.name, fence),
    );
    if (revoked.type !== "ok" || scene.wasLost(sinceMs)) return;
    const { holder } = revoked.value;
    if (holder ? holder.id !== lease.id : beliefs.atNode(belief).isHeld)
      scene.fail(
        "M7",
        `the token ${fence} of ${lease.id} took the permits of ${holder?.id ?? "nobody"}`,
        sinceMs,
      );
  }
}
