/** Reigns: who believes that he leads, and for which term. A process that stands still cannot act, so it is not asked. */
import type { Leadership, Successor } from "holdfast";
import { planned } from "../../scene.js";
import type { Caller, Scene } from "../../workload.js";
import { holderAt } from "../mutex/node-state.js";

/** By then a timer that was late has told. */
const toldMs = 100;

export class Reign {
  readonly caller: Caller;
  readonly leadership: Leadership<string>;
  /** The call of transfer() is under way. */
  isHandingOver = false;
  /** It was handed over, or may have been. */
  isGiven = false;
  readonly #reigns: Reigns;
  #wasOver = false;
  /** By its resignation. */
  #isEnded = false;

  constructor(caller: Caller, leadership: Leadership<string>, reigns: Reigns) {
    this.caller = caller;
    this.leadership = leadership;
    this.#reigns = reigns;
  }

  /** Whether the caller may act as the leader now. */
  look(): boolean {
    const { scene, name } = this.caller;
    if (!this.leadership.valid) {
      if (!this.#wasOver) this.#judgeSignal();
      this.#wasOver = true;
      return false;
    }
    if (this.#wasOver) scene.fail("E1", `${name} did not lead any more, and leads again`);
    this.#reigns.look();
    return true;
  }

  end(): void {
    this.#isEnded = true;
    this.#reigns.end(this);
  }

  /** E7: who leads no more, and has not ended that himself, has a signal that says so. */
  #judgeSignal(): void {
    const { scene, process, name } = this.caller;
    if (this.isHandingOver || this.isGiven) return;
    const { term, signal } = this.leadership;
    process.after(toldMs, () => {
      if (this.#isEnded || this.isGiven || this.caller.isClosing || signal.aborted) return;
      scene.fail("E7", `${name} does not lead in term ${term} any more, and its signal has not aborted`);
    });
  }
}

interface Elected {
  readonly term: bigint;
  readonly id: string;
  readonly caller: string;
  readonly atMs: number;
}

export class Reigns {
  readonly #scene: Scene;
  readonly #lock: string;
  readonly #live = new Set<Reign>();
  readonly #elected: Elected[] = [];
  readonly #handed: { readonly term: bigint; readonly to: string; readonly by: string }[] = [];

  constructor(scene: Scene, lock: string) {
    this.#scene = scene;
    this.#lock = lock;
  }

  get count(): number {
    return this.#elected.length;
  }

  /** The node has lost data, and its clock is behind: nothing is left from which a term could go on. */
  get mayFall(): boolean {
    return this.#scene.hasForgotten && (this.#scene.mayBeSetBack || this.#scene.clockSteps.length > 0);
  }

  begin(caller: Caller, leadership: Leadership<string>): Reign {
    const reign = new Reign(caller, leadership, this);
    const { term, id } = leadership;
    if (leadership.fence !== term) this.#scene.fail("E2", `term ${term} has the fence ${leadership.fence}`);
    const elected = { term, id, caller: caller.name, atMs: caller.process.nowMs };
    if (leadership.valid) this.#judgeTerm(elected);
    this.#elected.push(elected);
    this.#live.add(reign);
    this.look();
    return reign;
  }

  end(reign: Reign): void {
    this.#live.delete(reign);
  }

  /** E1. Each time that somebody acts, and from time to time. */
  look(): void {
    const leading = [...this.#live].filter(
      ({ caller, leadership }) => caller.process.isAwake && leadership.valid,
    );
    const [one, other] = leading;
    if (!one || !other) return;
    if (leading.some(({ caller }) => this.#scene.mayOverlap(planned(caller.process.name)))) return;
    const [a, b] = [one, other].map(({ caller, leadership }) => `${caller.name} in term ${leadership.term}`);
    this.#scene.fail("E1", `${a} and ${b} both believe that they lead`);
  }

  /** E6: the successor is the one that was named, and nobody else leads in that term. */
  handed(reign: Reign, to: string, successor: Successor, fail: (message: string) => void): void {
    if (reign.leadership.valid) fail("handed over, and still leads");
    if (successor.id !== to) fail(`handed over to ${to}, and was told of ${successor.id}`);
    this.#handed.push({ term: successor.term, to, by: reign.caller.name });
    const { node } = this.#scene;
    if (!node.isUp || this.#scene.hasForgotten || this.#scene.mayAnyOverlap()) return;
    const holder = holderAt(node, this.#lock);
    if (holder && holder.tokens[0] === successor.term && holder.id !== to)
      fail(`handed over to ${to}, and the node names ${holder.id} for that term`);
  }

  judge(): void {
    for (const { term, to, by } of this.#handed)
      for (const elected of this.#elected)
        if (elected.term === term && elected.id !== to && !this.#scene.hasForgotten)
          this.#scene.fail(
            "E6",
            `${by} handed over to ${to}, and ${elected.caller} leads in that term`,
            elected.atMs,
          );
  }

  /** E2: of two leaders in turn the later has the larger term. */
  #judgeTerm({ term, id, caller, atMs }: Elected): void {
    if (this.mayFall) return;
    for (const before of this.#elected) {
      if (before.term < term || before.id === id) continue;
      if (this.#scene.mayAnyOverlap(before.atMs) || this.#scene.mayAnyOverlap(atMs)) continue;
      this.#scene.fail(
        "E2",
        `${caller} was elected for term ${term}, after ${before.caller} for ${before.term}`,
      );
      return;
    }
  }
}
