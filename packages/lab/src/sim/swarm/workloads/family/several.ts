/** Several: a program that takes several locks in one call, for some work, and beside another attempt of the same turn. */
import type { Lease, MultiLease, MultiLock, MultiUnlessOptions } from "holdfast";
import type { Node } from "../../../node.js";
import type { Caller, Scene } from "../../workload.js";
import { keysOf } from "../mutex/node-state.js";
import type { Actor, Ledger, Part } from "./ledger.js";

/** How long a program of a run holds what it has, at most. */
export const longestHoldMs = 60;

interface Run {
  readonly scene: Scene;
  readonly ledger: Ledger;
}

export class Several {
  readonly #caller: Caller;
  readonly #run: Run;
  readonly #lockOf: (parts: readonly Part[]) => MultiLock;
  readonly #judgeError: (actor: Actor, error: unknown) => void;

  constructor(
    caller: Caller,
    run: Run,
    lockOf: (parts: readonly Part[]) => MultiLock,
    judgeError: (actor: Actor, error: unknown) => void,
  ) {
    this.#caller = caller;
    this.#run = run;
    this.#lockOf = lockOf;
    this.#judgeError = judgeError;
  }

  async take(actor: Actor, parts: readonly Part[], waitMs: number): Promise<void> {
    const { ledger, scene } = this.#run;
    const multi = this.#lockOf(parts);
    const options = actor.owner ? { owner: actor.owner } : {};
    const wait = ledger.wait(actor, parts);
    const more = this.#moreOf(waitMs);
    const attempt = await this.#caller.attempt<MultiLease | null>(
      "acquire all",
      parts.map(({ name }) => name).join("+"),
      () => (waitMs === 0 ? multi.tryAcquire(options) : multi.acquire({ ...options, ...more, wait: waitMs })),
      { withinMs: waitMs + 4 * this.#caller.plan.callTimeoutMs, signal: more.signal },
    );
    ledger.end(wait);
    if (attempt.type !== "ok") this.#judgeError(actor, attempt.error);
    if (attempt.type !== "ok" || !attempt.value) return;
    const all = attempt.value;
    const { leases } = all;
    const isWhole = parts.every(({ name }, place) => leases[place]?.name === name && leases[place].valid);
    if (!isWhole && scene.plan.faults.length === 0)
      scene.fail(
        "C3",
        `${this.#caller.name} got ${leases.map(({ name }) => name).join(", ")} of ${multi.names.join(", ")}`,
      );
    const holdings = parts.map((part, place) => ledger.begin(actor, part, leases[place] as Lease));
    await this.#pause();
    this.#judgeAll(all);
    for (const holding of holdings) ledger.end(holding);
    await this.#release(multi.names.join("+"), all);
  }

  /** Takes all of them for some work. */
  async run(actor: Actor, parts: readonly Part[], waitMs: number): Promise<void> {
    const { ledger } = this.#run;
    const multi = this.#lockOf(parts);
    const wait = ledger.wait(actor, parts);
    const work = async ({ leases }: MultiLease): Promise<void> => {
      ledger.end(wait);
      const holdings = parts.map((part, place) => ledger.begin(actor, part, leases[place] as Lease));
      await this.#pause();
      for (const holding of holdings) ledger.end(holding);
    };
    const options = { ...(actor.owner && { owner: actor.owner }), wait: waitMs };
    const name = multi.names.join("+");
    const attempt = await this.#caller.attempt("run under all", name, () => multi.run(work, options), {
      withinMs: waitMs + longestHoldMs + 8 * this.#caller.plan.callTimeoutMs,
    });
    ledger.end(wait);
    if (attempt.type !== "ok") this.#judgeError(actor, attempt.error);
  }

  /** C8: of two attempts of one turn for a name that is free, one gets it. */
  async bothAtOnce(names: readonly [string, string]): Promise<void> {
    const { scene, ledger } = this.#run;
    const { hf, plan, name } = this.#caller;
    const sinceMs = scene.world.nowMs;
    const [one, other] = names.map((each) => hf.mutex(each, { ttl: plan.ttlMs })) as [Single, Single];
    const isFree = (): boolean => !isHeld(scene.node, one.name) && !ledger.wasWanted(one.name, sinceMs);
    if (!isFree()) return;
    const before = ledger.count;
    const more = { withinMs: 2 * plan.callTimeoutMs };
    const all = () => hf.multiLock([one, other]).tryAcquire();
    const attempts = await Promise.all([
      this.#caller.attempt("acquire", names.join("+"), all, more),
      this.#caller.attempt("acquire", one.name, () => one.tryAcquire(), more),
    ]);
    const leases = attempts.flatMap((each) => (each.type === "ok" && each.value ? [each.value] : []));
    const isUndisturbed = ledger.count === before && isFree() && attempts.every(({ type }) => type === "ok");
    if (leases.length === 0 && isUndisturbed)
      scene.fail("C8", `${name} asked twice for "${one.name}" in one turn, it was free, and neither got it`);
    for (const lease of leases) await this.#release(one.name, lease);
  }

  async #release(name: string, lease: Pick<Lease, "release">): Promise<void> {
    const withinMs = 3 * this.#caller.plan.callTimeoutMs;
    await this.#caller.attempt("release", name, () => lease.release(), { withinMs });
  }

  /** C3: the lease of all says what theirs say. */
  #judgeAll(all: MultiLease): void {
    const { process } = this.#caller;
    const { heldUpMs } = process;
    const valid = all.leases.every((lease) => lease.valid);
    const leftMs = Math.min(...all.leases.map((lease) => lease.remainingMs));
    const fences = all.leases.every(({ fence }, place) => all.fences[place] === fence);
    const isTrue =
      all.valid === valid && fences && all.remainingMs === leftMs && (!valid || !all.signal.aborted);
    // A process may stand still at each look at its clock.
    if (!isTrue && process.heldUpMs === heldUpMs)
      this.#run.scene.fail("C3", `a multi-lease says ${JSON.stringify(all)}, and its leases ${valid}`);
  }

  /** Some give up, and some need it no longer. */
  #moreOf(waitMs: number): Pick<MultiUnlessOptions, "signal" | "unless"> {
    const { dice } = this.#caller;
    if (dice.chance(0.2)) return { unless: () => dice.chance(0.3) };
    if (waitMs === 0 || dice.chance(0.6)) return {};
    return { signal: this.#caller.givesUpAfter(dice.between(0, dice.pick([5, 300]))) };
  }

  #pause(): Promise<void> {
    const { dice, process } = this.#caller;
    return process.sleep(dice.between(0, longestHoldMs));
  }
}

type Single = ReturnType<Caller["hf"]["mutex"]>;

function isHeld(node: Node, name: string): boolean {
  const { lock, line } = keysOf(name);
  return node.peekAll(["EXISTS", lock], ["EXISTS", line]).some((found) => Number(found) > 0);
}
