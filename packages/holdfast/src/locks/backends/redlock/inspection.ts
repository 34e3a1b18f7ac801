/**
 * RedlockInspection: the state of locks over several nodes, merged. A claim holds a lock when it has a quorum of the seats. Nodes that
 * do not vote or do not answer are left out, as long as a quorum of the nodes is left.
 */
import {
  type HoldfastError,
  type NodeFailure,
  NoQuorumError,
  NotVotingError,
  ServerError,
} from "../../../errors.js";
import type { ForceReleaseResult, LockHolder, LockInspection, LockState } from "../../inspection.js";
import { mergeHolders, mergeStates, nth } from "./merged-state.js";
import type { RedlockNode } from "./node.js";
import { claimIdOf, quorumOf } from "./votes.js";

/** Locks that are looked at in one call to each node. */
const CHUNK = 100;
/** Maximum number of waiters that are listed, for a single lock and for each lock of a list. */
const MOST_WAITERS = 1_000;
const MOST_WAITERS_IN_LIST = 100;
/** How often, and how soon, a hand-over by force is looked at until the next holder has its token. */
const MOST_LOOKS = 10;
const LOOK_MS = 20;

/** The answers of the nodes, in their order; null: a node gave none. */
interface Answers<Value> {
  readonly values: readonly (Value | null)[];
  readonly failures: readonly NodeFailure[];
}

export class RedlockInspection implements LockInspection {
  readonly #nodes: readonly RedlockNode[];
  readonly #quorum: number;

  constructor(nodes: readonly RedlockNode[]) {
    this.#nodes = nodes;
    this.#quorum = quorumOf(nodes.length);
  }

  async look(name: string): Promise<LockState> {
    const [states = []] = await this.#look([name], MOST_WAITERS);
    if (states.some((state) => state !== null)) return mergeStates(name, states, this.#quorum);
    // Nodes answered, and none of them can read the lock: one of them says why.
    const { values, failures } = await this.#ask((node) => node.locks.inspection.look(name));
    const refusal = failures.find(({ error }) => error instanceof ServerError);
    if (refusal) throw refusal.error;
    return mergeStates(name, values, this.#quorum);
  }

  async *list(pattern: string, free: boolean): AsyncGenerator<LockState, void, undefined> {
    const seen = new Set<string>();
    const failures: NodeFailure[] = [];
    for (const node of this.#nodes) {
      try {
        if (node.silence) throw node.silence;
        for await (const names of inChunks(node.locks.inspection.list(pattern, free), seen)) {
          const states = await this.#look(names, MOST_WAITERS_IN_LIST);
          for (const [place, name] of names.entries()) {
            const state = mergeStates(name, states[place] ?? [], this.#quorum);
            if (state.holder || state.waiting > 0 || (free && state.lastFence > 0n)) yield state;
          }
        }
      } catch (error) {
        failures.push(failureOf(node, error));
        // A lock that is held is known at a quorum of the nodes. So each one is found as long as a quorum can be listed.
        this.#assertQuorum(pattern, failures);
      }
    }
  }

  async forceRelease(name: string, fence: bigint): Promise<ForceReleaseResult> {
    const [states = []] = await this.#look([name], MOST_WAITERS);
    const { holder, lastFence } = mergeStates(name, states, this.#quorum);
    const unchanged = { holder, told: false, next: null, lastFence };
    if (!holder) return { ...unchanged, outcome: "free" };
    // It has reserved every token up to the last one. Where the node that gave its first one cannot be read, that may be any of them.
    const isItsOwn = fence === 0n || (fence >= holder.fence && fence <= lastFence);
    if (!isItsOwn) return { ...unchanged, outcome: "changed" };
    const { values, failures } = await this.#ask(async (node, place) => {
      const seat = states[place]?.holder;
      if (!seat || claimIdOf(seat.id) !== holder.id) return null;
      // With the token that this node gave, so that nobody loses a seat who got it since.
      return node.locks.inspection.forceRelease(name, seat.fence);
    });
    // Nodes that did not answer may still count for the holder.
    this.#assertQuorum(name, failures);
    const results = values.filter((result) => result !== null);
    const taken = results.filter(({ outcome }) => outcome === "released" || outcome === "handed-over");
    if (taken.length === 0) return { ...unchanged, outcome: "changed" };
    const heir = mergeHolders(
      taken.map((result) => ({ holder: result.next, lastFence: result.lastFence })),
      this.#quorum,
    );
    const next = heir && (await this.#settled(name, heir));
    return {
      outcome: next ? "handed-over" : "released",
      holder,
      told: taken.some(({ told }) => told),
      next,
      lastFence: nth([lastFence, ...taken.map((result) => result.lastFence)], 1),
    };
  }

  /** The next holder once the nodes have agreed on its token, which takes it one more call to them. */
  async #settled(name: string, heir: LockHolder): Promise<LockHolder> {
    const { schedule } = (this.#nodes[0] as RedlockNode).context;
    for (let looks = 0; looks < MOST_LOOKS; looks++) {
      await new Promise<void>((resolve) => schedule.after(LOOK_MS, resolve));
      const [states = []] = await this.#look([name], 1);
      const seats = states.filter((state) => state?.holder && claimIdOf(state.holder.id) === heir.id);
      const tops = seats.map((state) => state?.lastFence);
      if (seats.length < this.#quorum) return heir;
      const isAgreed = tops.some((top) => tops.filter((other) => other === top).length >= this.#quorum);
      if (isAgreed) return mergeStates(name, states, this.#quorum).holder ?? heir;
    }
    return heir;
  }

  /** The states at all nodes for each name; null: the node did not answer, or it cannot read the lock. */
  async #look(names: readonly string[], most: number): Promise<(LockState | null)[][]> {
    const { values, failures } = await this.#ask((node) => node.locks.inspection.lookAll(names, most));
    this.#assertQuorum(names[0] ?? "", failures);
    return names.map((_, place) =>
      values.map((states) => {
        const state = states?.[place];
        return state && !(state instanceof ServerError) ? state : null;
      }),
    );
  }

  /** Asks all nodes that vote. Never rejects. */
  async #ask<Value>(
    question: (node: RedlockNode, place: number) => Promise<Value | null>,
  ): Promise<Answers<Value>> {
    const failures: NodeFailure[] = [];
    const values = await Promise.all(
      this.#nodes.map(async (node, place) => {
        try {
          const { silence } = node;
          if (silence) throw silence;
          const mark = node.mark();
          const value = await question(node, place);
          if (await node.counts(mark)) return value;
          throw node.silence ?? new NotVotingError(node.name, "unreachable", "its connection broke");
        } catch (error) {
          failures.push(failureOf(node, error));
          return null;
        }
      }),
    );
    return { values, failures: failures.sort((one, other) => one.place - other.place) };
  }

  /** @throws {NoQuorumError} */
  #assertQuorum(name: string, failures: readonly NodeFailure[]): void {
    const { length } = this.#nodes;
    if (length - failures.length < this.#quorum) {
      throw new NoQuorumError(name, this.#quorum, length, failures);
    }
  }
}

function failureOf({ name, place }: RedlockNode, error: unknown): NodeFailure {
  return { node: name, place, error: error as HoldfastError };
}

/** The names that were not seen before. */
async function* inChunks(
  states: AsyncGenerator<LockState, void, undefined>,
  seen: Set<string>,
): AsyncGenerator<readonly string[], void, undefined> {
  let names: string[] = [];
  for await (const { name } of states) {
    if (seen.has(name)) continue;
    seen.add(name);
    names.push(name);
    if (names.length < CHUNK) continue;
    yield names;
    names = [];
  }
  if (names.length > 0) yield names;
}
