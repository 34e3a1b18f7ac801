/** The callers of one process, on a clock that the test moves and a store whose answers the test gives. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { IndeterminateError } from "../src/errors.js";
import type { Grant } from "../src/lease/hold.js";
import { Keeper, type Renew, type RenewOutcome } from "../src/lease/keeper.js";
import type { Lease } from "../src/lease/lease.js";
import type { Busy, Claim, ClaimObserver, Freed, LockBackend, StoreClaim } from "../src/locks/backend.js";
import { Lines } from "../src/locks/lines.js";
import { Mutex } from "../src/locks/mutex.js";
import { Ownership } from "../src/locks/ownership.js";
import { Schedule } from "../src/time/schedule.js";

let clock: ManualClock;
let stands: FakeClaim[];
let attempts: { resolve(outcome: Grant | Busy): void; reject(error: Error): void }[];
let released: string[];
let abandoned: string[];
let renewals: RenewOutcome[];
let freedAs: Freed;
const ownership = new Ownership({ fraction: () => 0, id: () => "" });
let lines: Lines;
let mutex: Mutex;

class FakeClaim implements StoreClaim {
  readonly claim: Claim;
  readonly #observer: ClaimObserver;
  gaveUp = false;
  #stands = false;

  constructor(claim: Claim, observer: ClaimObserver) {
    this.claim = claim;
    this.#observer = observer;
  }

  attempt(): Promise<Grant | Busy> {
    return new Promise((resolve, reject) => void attempts.push({ resolve, reject }));
  }

  stand(): void {
    this.#stands = true;
    stands.push(this);
  }

  granted(grant: Grant): void {
    this.#stands = false;
    this.#observer.granted(this, grant);
  }

  waiting(busy: Busy): void {
    this.#observer.waiting(this, busy);
  }

  release(_: number, told: (freed: Freed) => void): void {
    released.push(this.claim.id);
    void Promise.resolve(freedAs).then(told);
  }

  forget(): void {}

  abandon(): void {
    if (this.#stands) this.gaveUp = true;
    else abandoned.push(this.claim.id);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const grant = (token: bigint): Grant => ({ token, turns: 2, ttlMs: 3_000, sentAt: clock.now() });

beforeEach(() => {
  clock = new ManualClock();
  stands = [];
  attempts = [];
  released = [];
  abandoned = [];
  renewals = [];
  freedAs = "released";
  let ids = 0;
  const random = { fraction: () => 0, id: () => `id${ids++}` };
  const schedule = new Schedule(clock);
  const backend = {
    claim: (claim: Claim, observer: ClaimObserver) => new FakeClaim(claim, observer),
    renew: () => (renewals.length > 0 ? Promise.resolve(renewals) : new Promise(() => {})),
  } as Partial<LockBackend> as LockBackend;
  const renew: Renew = (holds, timeoutMs) => backend.renew(holds, timeoutMs);
  const keeper = new Keeper({ schedule, random, renew });
  const self = { host: "here", pid: 7, label: "me" };
  lines = new Lines({ backend, keeper, schedule, random, self }, ownership);
  mutex = new Mutex(lines, "name", { ttl: 3_000, localTurns: 2 });
});

async function acquired(token: bigint): Promise<Lease> {
  const lease = mutex.acquire();
  stands.at(-1)?.granted(grant(token));
  return lease;
}

test("callers get turns in their order, within the bound, and then the line stands again in the same tick", async () => {
  const order: bigint[] = [];
  const work = [1, 2, 3].map(() => mutex.run((lease) => void order.push(lease.fence)));
  expect(stands).toHaveLength(1);
  stands[0]?.granted(grant(10n));
  await settled();
  expect([order, released, stands.length]).toEqual([[10n, 11n], ["id0"], 2]);
  stands[1]?.granted(grant(50n));
  await Promise.all(work);
  expect([order, released]).toEqual([
    [10n, 11n, 50n],
    ["id0", "id1"],
  ]);
  await settled();
  expect([lines.size, clock.pendingTimers]).toEqual([0, 0]);
});

test("a caller that asks for a larger fence than the next one sends the hold back first", async () => {
  const low = mutex.acquire();
  const high = mutex.acquire({ floor: 100n });
  expect(stands[0]?.claim.minFence).toBe(0n);
  stands[0]?.granted(grant(10n));
  expect((await low).fence).toBe(10n);
  await (await low).release();
  expect(stands[1]?.claim.minFence).toBe(101n);
  stands[1]?.granted(grant(101n));
  expect((await high).fence).toBe(101n);
});

test("the wait behind a caller of this process ends with its name", async () => {
  const first = mutex.acquire();
  stands[0]?.granted(grant(10n));
  await first;
  const second = mutex.acquire({ wait: 50 });
  clock.advance(50);
  await expect(second).rejects.toMatchObject({
    code: "ACQUIRE_TIMEOUT",
    owner: { host: "here", pid: 7, label: "me", fence: 10n },
  });
});

test("a wait behind a caller of this process whose lease has just ended is one that found the name taken", async () => {
  const first = await acquired(10n);
  const second = mutex.acquire({ wait: 3_050 });
  clock.advance(3_010);
  expect(first.valid).toBe(false);
  clock.advance(40);
  await expect(second).rejects.toMatchObject({ code: "ACQUIRE_TIMEOUT" });
});

test("a wait without any answer ends as unknown, one with an answer as busy", async () => {
  const unheard = mutex.acquire({ wait: 50 });
  clock.advance(50);
  await expect(unheard).rejects.toMatchObject({ code: "INDETERMINATE" });
  expect(stands[0]?.gaveUp).toBe(true);
  const heard = mutex.acquire({ wait: 50 });
  stands[1]?.waiting({ owner: null, ahead: 0 });
  clock.advance(50);
  await expect(heard).rejects.toMatchObject({ code: "ACQUIRE_TIMEOUT" });
});

test("a second attempt beside one under way shares its fate", async () => {
  const [one, two] = [mutex.tryAcquire(), mutex.tryAcquire()];
  attempts[0]?.reject(new IndeterminateError("no answer"));
  await expect(one).rejects.toMatchObject({ code: "INDETERMINATE" });
  await expect(two).rejects.toMatchObject({ code: "INDETERMINATE" });
  expect(abandoned).toEqual(["id0"]);
  const [three, four] = [mutex.tryAcquire(), mutex.tryAcquire()];
  attempts[1]?.resolve(grant(10n));
  expect([(await three)?.fence, await four]).toEqual([10n, null]);
});

test("a token that is not above the last one is given to nobody, and the next is asked for above it [H42]", async () => {
  const told: unknown[] = [];
  const note = (message: unknown): void => void told.push(message);
  subscribe("holdfast:lock:token-regression", note);
  const first = mutex.tryAcquire();
  attempts[0]?.resolve(grant(100n));
  expect(await (await first)?.release()).toBe("released");
  const waiting = mutex.acquire();
  stands[0]?.granted(grant(100n));
  expect(stands.map(({ claim }) => claim.minFence)).toEqual([0n, 101n]);
  stands[1]?.granted(grant(101n));
  await (await waiting).release();
  const attempt = mutex.tryAcquire();
  attempts[1]?.resolve(grant(50n));
  await settled();
  await settled();
  attempts[2]?.resolve(grant(102n));
  expect((await attempt)?.fence).toBe(102n);
  expect(released).toEqual(["id0", "id1", "id2", "id3"]);
  unsubscribe("holdfast:lock:token-regression", note);
  expect(told).toEqual([
    { lock: "name", fence: 100n, seen: 100n },
    { lock: "name", fence: 50n, seen: 101n },
  ]);
});

test("tokens that were used up may begin anew", async () => {
  const first = mutex.tryAcquire();
  attempts[0]?.resolve(grant(9_999_999_999_999_999n));
  await (await first)?.release();
  const next = mutex.tryAcquire();
  attempts[1]?.resolve(grant(1_800_000_000_000_000n));
  expect((await next)?.fence).toBe(1_800_000_000_000_000n);
});

test("a line that was begun by a listener while another ended is still known", async () => {
  const first = mutex.acquire();
  stands[0]?.granted(grant(10n));
  const lease = await first;
  const controller = new AbortController();
  const waiting = mutex.acquire({ wait: Number.POSITIVE_INFINITY, signal: controller.signal });
  let again: Promise<unknown> = Promise.resolve();
  lease.signal.addEventListener("abort", () => {
    controller.abort();
    again = mutex.acquire({ wait: Number.POSITIVE_INFINITY });
  });
  clock.advance(3_000);
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  expect(lines.size).toBe(1);
  stands.at(-1)?.granted(grant(20n));
  expect(await again).toMatchObject({ fence: 20n, valid: true });
  expect(lines.size).toBe(1);
});

test("an expired lease leaves the store its margin, and is given back when its holder has stopped", async () => {
  const first = mutex.acquire();
  stands[0]?.granted(grant(10n));
  const lease = await first;
  clock.advance(3_000);
  expect([lease.valid, abandoned, released]).toEqual([false, [], []]);
  expect(await lease.release()).toBe("lapsed");
  expect(abandoned).toEqual(["id0"]);
});

test("what is left of a lease that the store has given away is looked after: a copy of its request may be on its way", async () => {
  const caller = mutex.acquire();
  stands[0]?.granted(grant(1n));
  const lease = await caller;
  renewals = ["lost"];
  clock.advance(1_000);
  await settled();
  expect([lease.valid, abandoned]).toEqual([false, []]);
  expect(await lease.release()).toBe("lapsed");
  expect([abandoned, released]).toEqual([["id0"], []]);
});

test("who joins others of its process in line, and leaves before the next sign of life, is told that it is held", async () => {
  const first = mutex.acquire({ wait: 1_000 });
  stands[0]?.waiting({ owner: null, ahead: 2 });
  clock.advance(100);
  const second = mutex.acquire({ wait: 50 });
  clock.advance(50);
  await expect(second).rejects.toMatchObject({ code: "ACQUIRE_TIMEOUT" });
  clock.advance(1_000);
  await expect(first).rejects.toMatchObject({ code: "ACQUIRE_TIMEOUT" });
});

test("close() leaves no timer of a hold that had a limit", async () => {
  const acquired = new Mutex(lines, "limited", { ttl: 3_000, maxHold: 60_000 }).acquire();
  stands[0]?.granted(grant(7n));
  await acquired;
  await lines.close();
  await settled();
  expect(clock.pendingTimers).toBe(0);
});

test("close() gives back a lease that ended early and was not released, unless it has a delay", async () => {
  for (const [place, lockDelay] of [0, 500].entries()) {
    const limited = new Mutex(lines, `limited${place}`, { ttl: 3_000, lockDelay, maxHold: 1_000 });
    const expiring = new Mutex(lines, `expiring${place}`, { ttl: 3_000, lockDelay });
    for (const each of [limited, expiring]) {
      const caller = each.acquire();
      stands.at(-1)?.granted(grant(7n));
      await caller;
    }
    clock.advance(3_000);
  }
  expect(abandoned).toEqual([]);
  await lines.close();
  expect(abandoned).toEqual(["id0", "id1", "id2"]); // id3 expired, and asked for a delay
});

test("close() says nothing of a lease that ended early where the store has granted the name again", async () => {
  const caller = new Mutex(lines, "again", { ttl: 3_000 }).acquire();
  stands.at(-1)?.granted(grant(7n));
  await caller;
  clock.advance(3_000);
  const next = new Mutex(lines, "again", { ttl: 3_000 }).acquire();
  stands.at(-1)?.granted(grant(8n));
  await (await next).release();
  await lines.close();
  expect(abandoned).toEqual([]);
});

const busy: Busy = { owner: null, ahead: null };

test("who comes while an attempt is under way stands in line when that has failed", async () => {
  const attempt = mutex.tryAcquire();
  const waiting = mutex.acquire();
  expect(stands).toHaveLength(0);
  attempts[0]?.resolve(busy);
  expect(await attempt).toBeNull();
  expect(stands).toHaveLength(1);
  stands[0]?.granted(grant(10n));
  expect((await waiting).fence).toBe(10n);
});

test("a line with an attempt under way is not forgotten when the last who waits has left", async () => {
  const attempt = mutex.tryAcquire();
  const waiting = mutex.acquire({ wait: 50 });
  clock.advance(50);
  await expect(waiting).rejects.toMatchObject({ code: "INDETERMINATE" });
  expect(lines.size).toBe(1);
  attempts[0]?.resolve(grant(10n));
  await (await attempt)?.release();
  expect(lines.size).toBe(0);
});

test("one that leaves the line does not take the others with it; the last one does", async () => {
  const first = mutex.acquire({ wait: 50 });
  const second = mutex.acquire({ wait: 100 });
  clock.advance(50);
  await expect(first).rejects.toMatchObject({ code: "INDETERMINATE" });
  expect([stands[0]?.gaveUp, lines.size]).toEqual([false, 1]);
  clock.advance(50);
  await expect(second).rejects.toMatchObject({ code: "INDETERMINATE" });
  expect([stands[0]?.gaveUp, lines.size]).toEqual([true, 0]);
});

test("the line asks for the highest token that anybody in it needs", async () => {
  const lease = await acquired(10n);
  const waiting = [100n, 5n].map((floor) => mutex.acquire({ floor }));
  await lease.release();
  expect(stands.at(-1)?.claim.minFence).toBe(101n);
  stands.at(-1)?.granted(grant(200n));
  for (const each of waiting) await (await each).release();
});

test("what is granted when nobody wants it any more goes back", async () => {
  const waiting = mutex.acquire({ wait: 50 });
  clock.advance(50);
  await expect(waiting).rejects.toMatchObject({ code: "INDETERMINATE" });
  stands[0]?.granted(grant(10n));
  expect(released).toEqual(["id0"]);
});

test("what is granted when its ttl is over is given up, and asked for anew", async () => {
  const late = grant(10n);
  const waiting = mutex.acquire();
  clock.advance(3_000);
  stands[0]?.granted(late);
  expect([abandoned, stands.length]).toEqual([["id0"], 2]);
  stands[1]?.granted(grant(20n));
  expect((await waiting).fence).toBe(20n);
});

test("an attempt whose grant comes when its ttl is over has an unknown outcome, and is not repeated", async () => {
  const late = grant(10n);
  const attempt = mutex.tryAcquire();
  clock.advance(3_000);
  attempts[0]?.resolve(late);
  await expect(attempt).rejects.toMatchObject({ code: "INDETERMINATE" });
  expect([abandoned, attempts.length]).toEqual([["id0"], 1]);
});

test("an attempt that is granted after close() is given up", async () => {
  const attempt = mutex.tryAcquire();
  const closing = lines.close();
  attempts[0]?.resolve(grant(10n));
  await expect(attempt).rejects.toMatchObject({ code: "CLOSED" });
  await closing;
  expect(abandoned).toEqual(["id0"]);
});

test("a release that comes after the end, and before any timer said so, has lapsed", async () => {
  const lease = await acquired(10n);
  clock.stall(3_000);
  expect(await lease.release()).toBe("lapsed");
  expect([released, abandoned]).toEqual([[], ["id0"]]);
});

test("a release that the store did not know of has lapsed", async () => {
  const lease = await acquired(10n);
  freedAs = "absent";
  expect(await lease.release()).toBe("lapsed");
});

test("a lease with a delay is left to run out at the store, unless it was taken away", async () => {
  mutex = new Mutex(lines, "name", { ttl: 3_000, lockDelay: 500 });
  const lease = await acquired(10n);
  clock.advance(3_000);
  expect(await lease.release()).toBe("lapsed");
  expect(abandoned).toEqual([]);
  const taken = await acquired(20n);
  renewals = ["lost"];
  clock.advance(1_000);
  await settled();
  expect(await taken.release()).toBe("lapsed");
  expect(abandoned).toEqual(["id1"]);
});
