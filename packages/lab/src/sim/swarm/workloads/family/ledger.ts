/** Ledger: who holds what and who waits for what, as the callers know it, with true times. */
import type { DeadlockError, Lease, LockNoun } from "holdfast";
import { planned } from "../../scene.js";
import type { Caller, Scene } from "../../workload.js";

/** A lock, and how much of it one holder takes. */
export interface Part {
  readonly noun: LockNoun;
  readonly name: string;
  readonly weight: number;
  /** All that there is of the lock. */
  readonly total: number;
}

/** The code that holds: one round of a caller. */
export interface Actor {
  readonly caller: Caller;
  /** By what it calls itself an owner; null: by the run that it is in. */
  readonly owner: object | null;
}

export interface Holding {
  readonly actor: Actor;
  readonly part: Part;
  readonly lease: Lease;
  readonly fromMs: number;
  toMs: number | null;
}

export interface Wait {
  readonly id: number;
  readonly actor: Actor;
  /** Several: a multiLock waits, and may hold some of them already. */
  readonly parts: readonly Part[];
  readonly fromMs: number;
  toMs: number | null;
}

type Step = DeadlockError["circle"][number];

interface Interval {
  readonly fromMs: number;
  readonly toMs: number | null;
}

export class Ledger {
  readonly #scene: Scene;
  readonly #holdings: Holding[] = [];
  readonly #waits: Wait[] = [];

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  get count(): number {
    return this.#holdings.length;
  }

  begin(actor: Actor, part: Part, lease: Lease): Holding {
    const others = this.#holdings.filter((one) => isSame(one.part, part) && isActing(one));
    const out = others.reduce((sum, one) => sum + one.part.weight, part.weight);
    const { process } = actor.caller;
    if (lease.valid && process.isAwake && out > part.total) this.#tooMany(actor, part, others);
    const holding = { actor, part, lease, fromMs: this.#scene.world.nowMs, toMs: null };
    this.#holdings.push(holding);
    return holding;
  }

  end(one: Holding | Wait): void {
    one.toMs ??= this.#scene.world.nowMs;
  }

  wait(actor: Actor, parts: readonly Part[]): Wait {
    const { nowMs: fromMs } = this.#scene.world;
    const wait = { id: this.#waits.length, actor, parts, fromMs, toMs: null };
    this.#waits.push(wait);
    return wait;
  }

  /** Whether somebody has waited for the name since then. */
  wasWanted(name: string, sinceMs: number): boolean {
    return this.#waits.some(
      ({ parts, toMs }) => parts.some((part) => part.name === name) && (toMs === null || toMs >= sinceMs),
    );
  }

  /** Waits that can never be served, whatever the order in line: their ids. Those of several locks at once count as going on. */
  get stuck(): readonly number[] {
    const held = this.#holdings.filter(isActing);
    let stuck = this.#waits.filter(
      ({ toMs, parts, actor }) => toMs === null && parts.length === 1 && isAble(actor),
    );
    for (let before = -1; before !== stuck.length; ) {
      before = stuck.length;
      const blocked = new Set(stuck.map(({ actor }) => actor));
      stuck = stuck.filter(({ parts }) => {
        const part = parts[0] as Part;
        const kept = held
          .filter((one) => isSame(one.part, part) && blocked.has(one.actor))
          .reduce((sum, one) => sum + one.part.weight, 0);
        return part.weight > part.total - kept;
      });
    }
    return stuck.map(({ id }) => id);
  }

  /** Why the error's circle never was; null: at some moment all of its code held, and waited for the next. */
  refute(actor: Actor, { circle }: DeadlockError): string | null {
    const steps = circle.map((step, place) => {
      const isLast = place === circle.length - 1;
      const next = circle[isLast ? 0 : place + 1] as Step;
      return this.#waitsThrough(step, next).filter(([wait]) => !isLast || wait.actor === actor);
    });
    const missing = steps.findIndex((ways) => ways.length === 0);
    if (missing >= 0)
      return `nobody had '${circle[missing]?.name}' with ${circle[missing]?.fence} and waited so`;
    const isReal = haveMoment(steps, { fromMs: 0, toMs: null });
    return isReal ? null : "its waits were never all at the same time";
  }

  /** Each wait for `next` of code that had `held`, and since when and until when it had that. A wait for several locks may have some of them. */
  #waitsThrough(held: Step, next: Step): (readonly [Wait, ...Interval[]])[] {
    const waits = this.#waits.filter(({ parts }) => parts.some((part) => isSame(part, next)));
    const several = waits.filter(({ parts }) => parts.length > 1 && parts.some((part) => isSame(part, held)));
    const holdings = this.#holdings.filter(
      ({ part, lease }) => isSame(part, held) && lease.fence === held.fence,
    );
    const ways = holdings.flatMap((holding) =>
      waits
        .filter((wait) => wait.actor === holding.actor)
        .map((wait): readonly [Wait, ...Interval[]] => [wait, holding]),
    );
    return ways.length > 0 ? ways : several.map((wait) => [wait]);
  }

  #tooMany({ caller }: Actor, part: Part, others: readonly Holding[]): void {
    const all = [caller, ...others.map(({ actor }) => actor.caller)];
    if (all.some(({ process }) => this.#scene.mayOverlap(planned(process.name)))) return;
    const held = others.map(({ actor, part: { weight } }) => `${actor.caller.name} (${weight})`).join(", ");
    this.#scene.fail("C7", `${caller.name} was granted ${part.weight} of "${part.name}" beside ${held}`);
  }
}

/** Whether one way can be taken of each step so that all of them lasted at one moment. */
function haveMoment(steps: readonly (readonly (readonly Interval[])[])[], during: Interval): boolean {
  const [ways, ...rest] = steps;
  if (!ways) return true;
  return ways.some((way) => {
    const all = [during, ...way];
    const fromMs = Math.max(...all.map((one) => one.fromMs));
    const toMs = Math.min(...all.map((one) => one.toMs ?? Number.POSITIVE_INFINITY));
    return fromMs <= toMs && haveMoment(rest, { fromMs, toMs });
  });
}

function isSame(one: Pick<Step, "noun" | "name">, other: Pick<Step, "noun" | "name">): boolean {
  return one.noun === other.noun && one.name === other.name;
}

function isAble({ caller: { process } }: Actor): boolean {
  return process.state !== "dead" && process.isAwake;
}

function isActing({ actor, lease, toMs }: Holding): boolean {
  return toMs === null && isAble(actor) && lease.valid;
}
