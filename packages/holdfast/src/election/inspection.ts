/** ElectionInspection: who leads, and who stands for election, whichever process asks. The lock is the truth; the record has the value. */
import type { LockInspection, LockState } from "../locks/inspection.js";
import type { ProcessRecord } from "../process-record.js";
import type { RecordState } from "../records/state.js";
import { errorOfOne } from "../redis/foreign.js";

/** A process that stands for election, as it described itself. Its fields are empty, and `pid` 0, where another program wrote them. */
export interface Candidate extends ProcessRecord {
  /** The id under which it waits, and leads later. */
  readonly id: string;
}

export interface Leader<Value = unknown> extends Candidate {
  readonly term: bigint;
  /** Null while it is not announced. */
  readonly value: Value | null;
  /** Whether the leader has announced its value. It leads before that, and when the announcement fails. */
  readonly announced: boolean;
  /** Milliseconds until the term ends unless the leader renews it, when Redis was read. */
  readonly remainingMs: number;
}

export interface ElectionState<Value = unknown> {
  readonly name: string;
  readonly leader: Leader<Value> | null;
  /** The last term that began; 0n if there was none in the last 24 hours. */
  readonly term: bigint;
  /** The first that stand for election, in the order in which they will be elected. */
  readonly candidates: readonly Candidate[];
  /** Number of all candidates, which may be more than `candidates` lists. */
  readonly waiting: number;
}

/** The lock of an election, and the record in which its leader announces itself. */
const PREFIX = "election:";

/** Reads the record of that name. */
export type ReadRecord = (name: string) => Promise<RecordState<unknown> | null>;

export class ElectionInspection {
  readonly #locks: LockInspection;
  readonly #read: ReadRecord;

  constructor(locks: LockInspection, read: ReadRecord) {
    this.#locks = locks;
    this.#read = read;
  }

  /** @throws {HoldfastError} */
  async look(name: string): Promise<ElectionState> {
    let before = -1n;
    for (;;) {
      const both = [this.#locks.look(electionLock(name)), this.#announced(electionLock(name))] as const;
      const [lock, record] = await Promise.all(both);
      // A new leader may announce itself between the two readings. Where it did not, the lock was lost and the record was not.
      if (!record || record.fence <= lock.lastFence || lock.lastFence === before)
        return toState(lock, record);
      before = lock.lastFence;
    }
  }

  /** Yields the elections whose names match and that somebody leads or stands for, in no order. */
  async *list(pattern: string): AsyncGenerator<ElectionState, void, undefined> {
    for await (const lock of this.#locks.list(electionLock(pattern), false)) {
      yield toState(lock, lock.holder && (await this.#announced(lock.name)));
    }
  }

  /** Null: nothing is announced, or another program has written it. The lock says who leads all the same. */
  async #announced(name: string): Promise<RecordState<unknown> | null> {
    try {
      return await this.#read(name);
    } catch (error) {
      errorOfOne(error);
      return null;
    }
  }
}

export function electionLock(name: string): string {
  return PREFIX + name;
}

function toState(lock: LockState, record: RecordState<unknown> | null): ElectionState {
  const { holder, waiters, waiting, lastFence } = lock;
  const announced = holder !== null && record?.fence === holder.fence;
  return {
    name: lock.name.slice(PREFIX.length),
    leader: holder && {
      ...toCandidate(holder),
      term: holder.fence,
      value: announced ? record.value : null,
      announced,
      remainingMs: holder.leftMs,
    },
    term: lastFence,
    candidates: waiters.map(toCandidate),
    waiting,
  };
}

function toCandidate({
  id,
  process,
}: {
  readonly id: string;
  readonly process: ProcessRecord | null;
}): Candidate {
  const { host = "", pid = 0, label = "" } = process ?? {};
  return { id, label, host, pid };
}
