/** The error of code that waits for a lock, whose holder waits in the end for a lock of that code. */
import { HoldfastError } from "./holdfast-error.js";
import type { Owner } from "./owner.js";

/** A lock of a circle. Its holder waits for the lock of the next step, and the holder of the last one for the first. */
export interface CircleStep {
  /** "record": an update of it, which is its own holder. */
  readonly noun: "mutex" | "semaphore" | "rwlock" | "record";
  readonly name: string;
  /** The process that holds it; null where another program wrote its record. */
  readonly owner: Owner | null;
  /** The token of the holder; 0n: an update has none. */
  readonly fence: bigint;
}

const TOGETHER = "release what the code holds, and try again; take locks in the same order everywhere";
const ONCE = "call the work itself, and not hf.once within it";
/** What to do where code waits for itself. */
const ALONE = {
  mutex: "release it first, or make the mutex reentrant",
  semaphore: "release it first",
  rwlock: "release it first",
  record: "make the whole change in one update, or update it again afterwards",
} as const;

/**
 * The wait can never end: the lock is held by code that waits too, and in the end for a lock that the waiting code itself holds. One wait
 * of such a circle rejects with this error. Its code keeps what it holds, as after any error.
 */
export class DeadlockError extends HoldfastError {
  static readonly code = "DEADLOCK";
  readonly code = DeadlockError.code;
  /** The lock for which the code waited. */
  readonly lock: string;
  /** The first step is the lock of this wait, and the last one is held by the code that waited. */
  readonly circle: readonly CircleStep[];

  /** @param circle one step or more */
  constructor(circle: readonly CircleStep[]) {
    const [{ name: lock, noun } = { name: "", noun: "mutex" as const }] = circle;
    const held = circle.map(({ name, owner }, place) => {
      const next = circle[place + 1];
      return next
        ? `${describe(owner)} holds '${name}' and waits for '${next.name}'`
        : `the code that waits ${noun === "record" ? "is in an update of" : "holds"} '${name}'`;
    });
    const remedy = circle.length > 1 ? TOGETHER : lock.startsWith("once:") ? ONCE : ALONE[noun];
    super(`the wait for '${lock}' can never end, because ${held.join(", ")}: ${remedy}`);
    this.lock = lock;
    this.circle = circle;
  }
}

function describe(owner: Owner | null): string {
  return owner ? `${owner.label && `${owner.label}, `}pid ${owner.pid} on ${owner.host}` : "another caller";
}
