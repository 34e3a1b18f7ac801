/** Over a store without records of waits, only code that waits for itself is refused. */
import { DeadlockError } from "holdfast";
import { Locks, systemClock } from "holdfast/locks";
import { expect, test } from "vitest";
import { MemoryLocks, MemoryStore } from "../memory-locks.js";

test("code that waits for a mutex which it holds itself is refused at once; two that wait for each other are not", async () => {
  await using locks = new Locks(new MemoryLocks(new MemoryStore(systemClock), systemClock));
  const [a, b] = [locks.mutex("a"), locks.mutex("b")];
  const [one, two] = [{}, {}];
  await a.acquire({ owner: one });
  await b.acquire({ owner: two });
  await expect(a.acquire({ owner: one })).rejects.toBeInstanceOf(DeadlockError);
  const waits = [b.acquire({ owner: one, wait: 20 }), a.acquire({ owner: two, wait: 20 })];
  const outcomes = await Promise.allSettled(waits);
  expect(outcomes.map((each) => (each.status === "rejected" ? each.reason.code : null))).toEqual([
    "ACQUIRE_TIMEOUT",
    "ACQUIRE_TIMEOUT",
  ]);
});
