/** LockHome: where a command takes locks or looks at them, one server or the servers of a Redlock. */
import type { AcquireOptions, Inspector, Lease } from "holdfast";
import type { NodeState } from "holdfast/redlock";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";
import type { KindName } from "./kinds/names.js";
import type { Connections } from "./link.js";
import { newQuorum } from "./quorum.js";
import { newSession } from "./session.js";
import type { Settings } from "./settings.js";

/** What commands ask of an inspector about locks. */
type LockInspector = Pick<Inspector, "locks" | "lock" | "waitsOf" | "forceRelease">;

/** A lock that a command takes: a mutex, a permit of a semaphore with so many, or one side of a read-write lock. */
export type LockNoun =
  | { readonly noun: "mutex" | "read" | "write" }
  | { readonly noun: "semaphore"; readonly permits: number };

export interface AnyLock {
  acquire(options: AcquireOptions): Promise<Lease>;
}

export interface LockHome extends Connections {
  /** @throws {Failure} with exit code 64 when the noun has one server */
  lock(name: string, noun: LockNoun, ttlMs: number): AnyLock;
  inspector(): Promise<Inspector>;
  /** Which servers vote; null: there is one server, and no vote. */
  nodes(): Promise<readonly NodeState[] | null>;
  /** Settles within a few time limits of a call. */
  close(): Promise<void>;
}

/** @throws {Failure} with exit code 64 when things of this kind have one server */
export function newLockHome(settings: Settings, label = "", kind: KindName = "lock"): LockHome {
  if (settings.redisUrls.length === 1) {
    const { hf, ...session } = newSession(settings, label);
    return {
      ...session,
      lock(name, noun, ttl) {
        // One turn: another process may wait.
        const options = { ttl, localTurns: 1 };
        if (noun.noun === "mutex") return hf.mutex(name, options);
        if (noun.noun === "semaphore") return hf.semaphore(name, { ...options, permits: noun.permits });
        const sides = hf.rwLock(name, options);
        return noun.noun === "read" ? sides.read() : sides.write();
      },
      inspector: () => hf.inspector(),
      nodes: async () => null,
    };
  }
  if (kind !== "lock") throw locksAlone();
  const { redlock, ...quorum } = newQuorum(settings, label);
  const { inspection } = redlock;
  const inspector: LockInspector = {
    locks: ({ pattern = "*", free = false } = {}) => inspection.list(pattern, free),
    lock: (name) => inspection.look(name),
    // Waits for several locks are written down at one server only.
    waitsOf: async () => [],
    forceRelease: (name, { fence = 0n } = {}) => inspection.forceRelease(name, fence),
  };
  return {
    ...quorum,
    lock(name, { noun }, ttl) {
      if (noun !== "mutex") throw locksAlone();
      return redlock.mutex(name, { ttl, localTurns: 1 });
    },
    // Locks are all that is looked at here.
    inspector: async () => inspector as Inspector,
    nodes: () => redlock.nodes(),
  };
}

function locksAlone(): Failure {
  return new Failure("USAGE", EXIT.usage, "over several servers there are mutexes alone: give one --redis");
}

/** A line for each node that does not vote, and what that hides. */
export function silencesOf(nodes: readonly NodeState[] | null): readonly string[] {
  const silences = (nodes ?? []).flatMap(({ reason }) => (reason === null ? [] : [reason]));
  return silences.length === 0 ? [] : [...silences, "a lock that needs a vote from there may look free"];
}
