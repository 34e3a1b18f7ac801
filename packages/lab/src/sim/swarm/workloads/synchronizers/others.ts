/** Rounds of events, latches and barriers that begin again, are short-lived, carry data, and are deleted. */
import type { Barrier, Latch, SharedEvent } from "holdfast";
import { type Caller, givenUp, type Rounds, round } from "../../workload.js";

/** A latch opens after so many counts, and a barrier trips with so many parties. */
export const size = 2;

/** What the callers of a run know of each other. */
export interface Laps {
  /** The newest generation of the latch of laps that somebody saw. */
  generation: bigint;
}

export function otherKinds(caller: Caller, laps: Laps): Rounds["kinds"] {
  const others = new Others(caller, laps);
  return {
    "set for a moment": round(() => others.set()),
    "delete the event": round(() => others.deleteEvent(), 0.3),
    lap: round(
      (n: number) => others.lap(n),
      1,
      (dice) => [dice.whole(1, 3)],
    ),
    "next lap": round(() => others.nextLap(), 0.5),
    "delete the latch": round(() => others.deleteLatch(), 0.2),
    meet: round(
      (waitMs: number, giveUpMs: number | null) => others.meet(waitMs, giveUpMs),
      2,
      (dice) => [dice.pick([0, 100, 1_000]), dice.pick([null, null, 20])],
    ),
    "delete the barrier": round(() => others.deleteBarrier(), 0.1),
  };
}

class Others {
  readonly #caller: Caller;
  readonly #laps: Laps;
  readonly #event: SharedEvent;
  readonly #latch: Latch;
  readonly #barrier: Barrier<string>;

  constructor(caller: Caller, laps: Laps) {
    this.#caller = caller;
    this.#laps = laps;
    const { hf, plan } = caller;
    this.#event = hf.event("gate", { keep: 60_000 });
    this.#latch = hf.latch("laps", size);
    this.#barrier = hf.barrier("meeting", size, { ttl: plan.ttlMs });
  }

  async set(): Promise<void> {
    const { dice } = this.#caller;
    const found = ({ version }: { readonly version: bigint }) => ({ token: version });
    await this.#caller.attempt("set", this.#event.name, () => this.#event.set(), { found });
    const signal = this.#caller.givesUpAfter(dice.chance(0.3) ? dice.between(0, 50) : null);
    const wait = () => this.#event.wait({ wait: 200, signal });
    const { callTimeoutMs } = this.#caller.plan;
    await this.#caller.attempt("wait in vain", this.#event.name, wait, {
      signal,
      waitMs: 200,
      withinMs: 200 + callTimeoutMs,
    });
    if (dice.chance(0.5)) await this.#caller.attempt("get", this.#event.name, () => this.#event.get());
  }

  async deleteEvent(): Promise<void> {
    await this.#caller.attempt("delete", this.#event.name, () => this.#event.delete());
  }

  async lap(n: number): Promise<void> {
    const done = await this.#caller.attempt("lap", this.#latch.name, () => this.#latch.countDown({ n }));
    if (done.type === "ok") this.#look(done.value.count);
    const read = await this.#caller.attempt("count", this.#latch.name, () => this.#latch.count());
    if (read.type === "ok") this.#look(read.value);
  }

  #look(count: number): void {
    if (count < 0 || count > size)
      this.#caller.scene.fail("Y4", `a latch of ${size} has a count of ${count}`);
  }

  async nextLap(): Promise<void> {
    const { scene } = this.#caller;
    const before = this.#laps.generation;
    const sinceMs = scene.world.nowMs;
    const done = await this.#caller.attempt("reset", this.#latch.name, () => this.#latch.reset());
    if (done.type !== "ok") return;
    const { generation } = done.value;
    // Of two at a time either may be the earlier one.
    if (generation <= before && !scene.hasForgotten && scene.clockSteps.length === 0)
      scene.fail("Y9", `a reset made generation ${generation}, after ${before}`, sinceMs);
    if (generation > this.#laps.generation) this.#laps.generation = generation;
  }

  async deleteLatch(): Promise<void> {
    await this.#caller.attempt("delete", this.#latch.name, () => this.#latch.delete());
  }

  async meet(waitMs: number, giveUpMs: number | null): Promise<void> {
    const { scene, name, plan } = this.#caller;
    const signal = this.#caller.givesUpAfter(giveUpMs);
    const wait = () => this.#barrier.wait({ wait: waitMs, data: name, signal });
    const withinMs = waitMs + plan.callTimeoutMs * (waitMs === 0 ? 2 : 1);
    const done = await this.#caller.attempt("meet", this.#barrier.name, wait, {
      reason: givenUp,
      waitMs,
      withinMs,
    });
    if (done.type !== "ok" || !done.value) return;
    const { index, data } = done.value;
    if ((data.length !== size || data[index] !== name) && !scene.hasForgotten)
      scene.fail("Y10", `${name} met as party ${index} of ${data.join(", ")}`);
  }

  async deleteBarrier(): Promise<void> {
    await this.#caller.attempt("delete", this.#barrier.name, () => this.#barrier.delete());
  }
}
