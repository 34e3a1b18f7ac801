/** Places: sets of nodes, and what cases say about several of them. */
import assert from "node:assert/strict";
import { NoQuorumError } from "holdfast";
import type { ManualClock } from "../clock.js";
import { until } from "../wait.js";
import type { RedlockLab } from "./lab.js";

/** Places of nodes, from 0. */
export type Places = readonly number[];

/** The way out of one node that all callers of a call take: the time-out of a call, and of every claim with a long ttl. */
export const CALL_MS = 250;

/** A step of the clock while a case waits for a node: many of them pass before anything runs out of time. */
const STEP_MS = 10;

export function places(count: number): Places {
  return Array.from({ length: count }, (_, place) => place);
}

/** All 2^count sets of places. */
export function subsets(count: number): readonly Places[] {
  return Array.from({ length: 2 ** count }, (_, mask) =>
    places(count).filter((place) => mask & (1 << place)),
  );
}

/** All sets of that many places. */
export function subsetsOf(count: number, size: number): readonly Places[] {
  return subsets(count).filter((subset) => subset.length === size);
}

/** All ways to give each of these places one of these words. */
export function assignments<Word>(count: number, words: readonly Word[]): readonly (readonly Word[])[] {
  if (count === 0) return [[]];
  return assignments(count - 1, words).flatMap((rest) => words.map((word) => [...rest, word]));
}

export function others(count: number, these: Places): Places {
  return places(count).filter((place) => !these.includes(place));
}

/** Neither a holder nor a waiter is left at these nodes. Time goes on meanwhile on the clock. */
export async function assertClean(
  lab: RedlockLab,
  name: string,
  at: Places,
  clock?: ManualClock,
): Promise<void> {
  for (const place of at) {
    const store = lab.nodes[place]?.store;
    let left: readonly string[] = [];
    const isClean = async (): Promise<boolean> => {
      clock?.advance(STEP_MS);
      // Ids of requests that may still be on their way stay banned for as long as one could arrive.
      left = ((await store?.residue(name)) ?? []).filter((key) => !key.endsWith(":banned"));
      return left.length === 0;
    };
    try {
      await until("nothing left", isClean);
    } catch {
      const holder = (await store?.holder(name))?.id ?? "nobody";
      assert.fail(`left of '${name}' at node ${place}: ${left.join(", ")}; held by ${holder}`);
    }
  }
}

/** A stranger holds the name at these nodes. Returns the check that it does so still. */
export async function seizeAt(lab: RedlockLab, name: string, at: Places): Promise<() => Promise<void>> {
  const look = () => Promise.all(at.map((place) => lab.nodes[place]?.store.holder(name)));
  await Promise.all(at.map((place) => lab.nodes[place]?.store.seize(name)));
  const before = await look();
  return async () => assert.deepEqual(await look(), before, `the stranger at ${at} was touched`);
}

/** No lease comes of the attempt: it is refused, or finds the lock busy. */
export async function assertNotGranted(attempt: Promise<unknown>): Promise<void> {
  const lease = await attempt.catch((error: unknown) => {
    assert.ok(error instanceof NoQuorumError, String(error));
    return null;
  });
  assert.equal(lease, null, "a lease without a quorum that may vote");
}
