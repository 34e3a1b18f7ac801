/** A hold that lingers, over a store in memory, on a clock that the test moves. */
import { ManualClock } from "@holdfast/conformance";
import type { Lease } from "holdfast";
import { Locks, type StoreClaim, type Taken } from "holdfast/locks";
import { beforeEach, expect, test } from "vitest";
import { MemoryLocks, MemoryStore } from "./memory-locks.js";

const TERMS = { ttl: 3_000, linger: 100 };

/** Takes the names of a joint attempt one by one, and notes how many there were. */
class CountingLocks extends MemoryLocks {
  readonly asked: string[] = [];
  readonly together: number[] = [];

  override claim(...given: Parameters<MemoryLocks["claim"]>): StoreClaim {
    this.asked.push(given[0].id);
    return super.claim(...given);
  }

  async takeAll(claims: readonly StoreClaim[]): Promise<Taken> {
    this.together.push(claims.length);
    const taken = await Promise.all(claims.map((claim) => claim.attempt()));
    return taken.flatMap((outcome) => ("token" in outcome ? [outcome] : []));
  }
}

let clock: ManualClock;
let store: MemoryStore;
let backend: CountingLocks;
let locks: Locks;
let other: Locks;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  clock = new ManualClock();
  store = new MemoryStore(clock);
  backend = new CountingLocks(store, clock);
  locks = new Locks(backend, { clock });
  other = new Locks(new MemoryLocks(store, clock), { clock });
});

test("callers that wait go first, and only the last release of all makes the name linger", async () => {
  const mutex = locks.mutex("it", TERMS);
  const order: string[] = [];
  const first = await mutex.acquire();
  const waiting = ["one", "two"].map((who) => mutex.run(() => void order.push(who)));
  await first.release();
  await Promise.all([...waiting, mutex.run(() => void order.push("three"))]);
  expect([order, backend.asked.length]).toEqual([["one", "two", "three"], 1]);
  clock.advance(100);
  await settled();
  expect([store.leftMs("it"), clock.pendingTimers]).toEqual([0, 0]);
});

test("each release begins the linger anew", async () => {
  const mutex = locks.mutex("it", TERMS);
  for (let turn = 0; turn < 9; turn++) {
    await (await mutex.acquire()).release();
    clock.advance(99);
  }
  expect([backend.asked.length, store.leftMs("it") > 0]).toEqual([1, true]);
  clock.advance(1);
  expect(store.leftMs("it")).toBe(0);
});

test("mutexes with another linger are another process to each other", async () => {
  await (await locks.mutex("it", TERMS).acquire()).release();
  expect(await locks.mutex("it").tryAcquire()).toBeNull();
  const waiting = locks.mutex("it", { ...TERMS, linger: 50 }).acquire();
  await settled();
  clock.advance(100);
  expect((await waiting).fence).toBeGreaterThan(16n);
});

test("without linger a release goes to the store before anybody asks", async () => {
  const lease = await locks.mutex("it", { ttl: 3_000 }).acquire();
  const released = lease.release();
  expect(store.leftMs("it")).toBe(0);
  expect(await released).toBe("released");
});

test("a name that is taken away while it lingers is another's at once, and the next caller here asks the store", async () => {
  const mutex = locks.mutex("it", TERMS);
  const first = await mutex.acquire();
  await first.release();
  store.revoke("it");
  const theirs = await other.mutex("it").tryAcquire();
  expect(theirs?.fence).toBeGreaterThan(first.fence);
  expect(await mutex.tryAcquire()).toBeNull();
  clock.advance(100);
  expect(theirs?.valid).toBe(true);
});

test("a lease that is over does not linger, and neither does a turn whose limit has passed", async () => {
  const mutex = locks.mutex("it", { ...TERMS, maxHold: 500 });
  const limited = await mutex.acquire();
  clock.advance(500);
  expect(await limited.release()).toBe("lapsed");
  expect(store.leftMs("it")).toBe(0);
  const first = await mutex.acquire();
  clock.advance(400);
  expect(await first.release()).toBe("released");
  clock.advance(99); // the limit is that of a turn
  const second = await mutex.acquire();
  expect([second.fence, second.valid]).toEqual([first.fence + 1n, true]);
  clock.advance(499);
  expect(second.valid).toBe(true);
  clock.advance(1);
  expect(second.valid).toBe(false);
});

test("a hold that expires while it lingers leaves no delay behind", async () => {
  const mutex = locks.mutex("it", { ...TERMS, lockDelay: 5_000 });
  await (await mutex.acquire()).release();
  clock.stepWall(3_000); // the machine was suspended
  clock.advance(50);
  expect(await mutex.tryAcquire()).toMatchObject({ valid: true });
  expect(backend.asked).toHaveLength(2);
});

test("an attempt that the grant has no fence for waits for the release before it asks", async () => {
  const mutex = locks.mutex("it", TERMS);
  const first = await mutex.acquire();
  await first.release();
  const tried = mutex.tryAcquire({ floor: 500n });
  expect(await mutex.tryAcquire()).toBeNull();
  const lease = await tried;
  expect([lease?.fence, lease?.valid, backend.asked.length]).toEqual([501n, true, 2]);
});

test("several locks at once take a name that lingers without a request, and ask for the others together", async () => {
  const mutexes = ["a", "b", "c"].map((name) => locks.mutex(name, TERMS));
  const first = await (mutexes[1] as (typeof mutexes)[0]).acquire();
  await first.release();
  const lease = await locks.multiLock(mutexes).acquire();
  const [a, b, c] = lease.leases as [Lease, Lease, Lease];
  expect([backend.together, b.fence === first.fence + 1n, a.valid, c.valid]).toEqual([[2], true, true, true]);
  await lease.release();
  clock.advance(100);
  await settled();
  expect(["a", "b", "c"].map((name) => store.leftMs(name))).toEqual([0, 0, 0]);
});

test("close() gives back what lingers, however many names that are", async () => {
  for (const name of ["a", "b", "c"]) await (await locks.mutex(name, TERMS).acquire()).release();
  await locks.close();
  await settled();
  expect(["a", "b", "c"].map((name) => store.leftMs(name))).toEqual([0, 0, 0]);
  expect(clock.pendingTimers).toBe(0);
});
