/** Leases that are handed over and adopted, in the line of a process: on a clock that the test moves, and a store whose answers it gives. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { IndeterminateError, LeaseLostError } from "../src/errors.js";
import type { Grant } from "../src/lease/hold.js";
import { Keeper, type RenewOutcome } from "../src/lease/keeper.js";
import type { Lease } from "../src/lease/lease.js";
import { adoptInto } from "../src/locks/adoption.js";
import type {
  Adoption,
  Busy,
  Claim,
  ClaimObserver,
  Freed,
  HandedOver,
  StoreClaim,
} from "../src/locks/backend.js";
import { Lines } from "../src/locks/lines.js";
import { lineFor, Mutex } from "../src/locks/mutex.js";
import { Ownership } from "../src/locks/ownership.js";
import { Schedule } from "../src/time/schedule.js";

interface Question<Answer> {
  readonly id: string;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

let clock: ManualClock;
let stands: FakeClaim[];
let renewals: Question<RenewOutcome>[];
let adoptions: (Question<Adoption> & { readonly from: HandedOver; readonly minFence: bigint })[];
let attempted: number;
let released: string[];
let abandoned: string[];
let lines: Lines;
let mutex: Mutex;

class FakeClaim implements StoreClaim {
  readonly claim: Claim;
  readonly #observer: ClaimObserver;

  constructor(claim: Claim, observer: ClaimObserver) {
    this.claim = claim;
    this.#observer = observer;
  }

  async attempt(): Promise<Grant | Busy> {
    attempted += 1;
    return { owner: null, ahead: null };
  }

  stand(): void {
    stands.push(this);
  }

  granted(token: bigint): void {
    this.#observer.granted(this, grant(token));
  }

  refused(error: IndeterminateError): void {
    this.#observer.refused(this, error);
  }

  handOver(): Promise<RenewOutcome> {
    const { id } = this.claim;
    return new Promise((resolve, reject) => void renewals.push({ id, resolve, reject }));
  }

  adopt(from: HandedOver): Promise<Adoption> {
    const { id, minFence } = this.claim;
    return new Promise((resolve, reject) => void adoptions.push({ id, from, minFence, resolve, reject }));
  }

  release(_: number, told: (freed: Freed) => void): void {
    released.push(this.claim.id);
    queueMicrotask(() => told("released"));
  }

  forget(): void {}

  abandon(): void {
    abandoned.push(this.claim.id);
  }
}

const TTL_MS = 3_000;
const OPTIONS = { ttl: TTL_MS, localTurns: 2 };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const grant = (token: bigint, turns = 2): Grant => ({ token, turns, ttlMs: TTL_MS, sentAt: clock.now() });

beforeEach(() => {
  clock = new ManualClock();
  stands = [];
  renewals = [];
  adoptions = [];
  attempted = 0;
  released = [];
  abandoned = [];
  let ids = 0;
  const random = { fraction: () => 0, id: () => `id${ids++}` };
  const schedule = new Schedule(clock);
  const backend = { claim: (claim: Claim, observer: ClaimObserver) => new FakeClaim(claim, observer) };
  const keeper = new Keeper({ schedule, random, renew: () => new Promise(() => {}) });
  const self = { host: "here", pid: 7, label: "me" };
  lines = new Lines({ backend, keeper, schedule, random, self }, new Ownership(random));
  mutex = new Mutex(lines, "name", OPTIONS);
});

async function acquired(token: bigint): Promise<Lease> {
  const lease = mutex.acquire();
  stands.at(-1)?.granted(token);
  return lease;
}

async function adopt(fence: bigint): Promise<Lease> {
  const line = lineFor(lines, "name", OPTIONS);
  return (await adoptInto(line, "name", "mutex", { id: "giver", fence })).lease;
}

const adopted = (token: bigint): Adoption => ({ outcome: "adopted", grant: grant(token) });
const reason = (of: string): unknown => expect.objectContaining({ code: "LEASE_LOST", reason: of });

test("a lease that was handed over is over here, nothing is sent for it, and those who wait stand in line anew", async () => {
  const lease = await acquired(10n);
  const { signal } = lease;
  const waiter = mutex.acquire();
  const handle = lease.handOver();
  lease.check();
  renewals[0]?.resolve("renewed");
  expect(await handle).toEqual({
    ...{ version: 1, noun: "mutex", name: "name" },
    ...{ id: "id0", fence: "10", ttlMs: TTL_MS },
  });
  expect(() => lease.check()).toThrow(reason("transferred") as Error);
  expect(signal.reason).toEqual(reason("transferred"));
  expect(stands).toHaveLength(2);
  expect(await lease.release()).toBe("lapsed");
  stands[1]?.granted(20n);
  expect((await waiter).fence).toBe(20n);
  await lines.close();
  expect([released, abandoned]).toEqual([["id1"], []]);
});

test("an adoption gives back what lingers in its line, which is in use meanwhile", async () => {
  const options = { ...OPTIONS, linger: 100 };
  mutex = new Mutex(lines, "name", options);
  await (await acquired(10n)).release();
  const line = lineFor(lines, "name", options);
  const adoption = adoptInto(line, "name", "mutex", { id: "giver", fence: 5n });
  expect([released, adoptions.length, lines.size]).toEqual([["id0"], 1, 1]);
  adoptions[0]?.resolve(adopted(20n));
  await (await adoption).lease.release();
  clock.advance(100);
  await settled();
  expect([released, lines.size, clock.pendingTimers]).toEqual([["id0", "id1"], 0, 0]);
});

test("of a later turn it is the fence of that turn that is handed over", async () => {
  const first = await acquired(10n);
  const second = mutex.acquire();
  await first.release();
  const handle = (await second).handOver();
  renewals[0]?.resolve("renewed");
  expect(await handle).toMatchObject({ id: "id0", fence: "11" });
});

test.each([
  ["an error", (): void => renewals[0]?.reject(new IndeterminateError("no answer"))],
  ["an outcome that is unknown", (): void => renewals[0]?.resolve("unknown")],
])("a hand-over that ends with %s leaves the lease as it was", async (_, answer) => {
  const lease = await acquired(10n);
  const handle = lease.handOver();
  answer();
  await expect(handle).rejects.toThrow(IndeterminateError);
  lease.check();
  expect(await lease.release()).toBe("released");
});

test.each([
  ["lost", "taken"],
  ["forgotten", "forgotten"],
] as const)("a lease that turns out to be %s when it is handed over ends as %s", async (outcome, why) => {
  const lease = await acquired(10n);
  const handle = lease.handOver();
  renewals[0]?.resolve(outcome);
  await expect(handle).rejects.toThrow(reason(why) as Error);
  expect(() => lease.check()).toThrow(reason(why) as Error);
});

test("a lease that was released while it was handed over goes to the next caller, and nobody gets a handle", async () => {
  const lease = await acquired(10n);
  const next = mutex.acquire();
  const handle = lease.handOver();
  await lease.release();
  renewals[0]?.resolve("renewed");
  await expect(handle).rejects.toMatchObject({ code: "LEASE_RELEASED" });
  (await next).check();
});

test("a lease that expired while it was handed over is lost, and nobody gets a handle", async () => {
  const lease = await acquired(10n);
  const handle = lease.handOver();
  clock.advance(TTL_MS);
  renewals[0]?.resolve("renewed");
  await expect(handle).rejects.toThrow(reason("expired") as Error);
});

test("close() releases a lease that is being handed over, and not one that was", async () => {
  const lease = await acquired(10n);
  const handle = lease.handOver();
  const closing = lines.close();
  await settled();
  renewals[0]?.resolve("renewed");
  await expect(handle).rejects.toThrow(reason("closed") as Error);
  await closing;
  expect(released).toEqual(["id0"]);
});

test("a lease that was handed over leaves no timer", async () => {
  mutex = new Mutex(lines, "name", { ...OPTIONS, maxHold: "1h" });
  const lease = await acquired(10n);
  const handle = lease.handOver();
  renewals[0]?.resolve("renewed");
  await handle;
  await settled();
  expect(clock.pendingTimers).toBe(0);
});

test("an adopted lease goes before those who wait here, who get turns after it; a place that nobody needs then is left", async () => {
  const waiter = mutex.acquire();
  const adopting = adopt(50n);
  expect(adoptions[0]).toMatchObject({ id: "id1", from: { id: "giver", fence: 50n }, minFence: 51n });
  adoptions[0]?.resolve(adopted(60n));
  const lease = await adopting;
  expect([lease.fence, lease.id, lease.valid]).toEqual([60n, "id1", true]);
  expect(abandoned).toEqual([]);
  expect(await mutex.tryAcquire()).toBeNull();
  expect(await lease.release()).toBe("released");
  expect((await waiter).fence).toBe(61n);
  expect([abandoned, stands.length]).toEqual([["id0"], 1]);
});

test("those who wait here keep their place in line where an adopted lease is passed on to nobody", async () => {
  const waiters = [mutex.acquire(), mutex.acquire()];
  const adopting = adopt(50n);
  adoptions[0]?.resolve({ outcome: "adopted", grant: grant(60n, 1) });
  const lease = await adopting;
  const later = mutex.acquire();
  expect(await lease.release()).toBe("released");
  expect([abandoned, released, stands.length]).toEqual([[], ["id1"], 1]);
  stands[0]?.granted(70n);
  for (const [place, waiter] of [...waiters, later].entries()) {
    stands[1]?.granted(80n);
    expect((await waiter).fence).toBe([70n, 71n, 80n][place]);
    await (await waiter).release();
  }
  await settled();
  expect([abandoned, lines.size, clock.pendingTimers]).toEqual([[], 0, 0]);
});

test("the place beside an adopted lease is left with the last who waits, and by close()", async () => {
  const stop = new AbortController();
  const waiter = mutex.acquire({ signal: stop.signal });
  const adopting = adopt(50n);
  adoptions[0]?.resolve(adopted(60n));
  const lease = await adopting;
  stop.abort("enough");
  await expect(waiter).rejects.toBe("enough");
  expect([abandoned, lines.size]).toEqual([["id0"], 1]);
  const next = mutex.acquire();
  await lines.close();
  await expect(next).rejects.toMatchObject({ code: "CLOSED" });
  expect([abandoned, released, lease.valid]).toEqual([["id0"], ["id1"], false]);
});

test("a grant of the place that was kept ends an adopted lease whose end was not heard of, and those who left by that get nothing", async () => {
  for (const leaves of [false, true]) {
    const stop = new AbortController();
    const waiter = mutex.acquire({ signal: stop.signal });
    const claim = stands.at(-1);
    const adopting = adopt(50n);
    adoptions.at(-1)?.resolve(adopted(leaves ? 80n : 60n));
    const lease = await adopting;
    if (leaves) lease.signal.addEventListener("abort", () => stop.abort("enough"));
    claim?.granted(leaves ? 90n : 70n);
    expect(() => lease.check()).toThrow(reason("taken") as Error);
    if (leaves) await expect(waiter).rejects.toBe("enough");
    else expect((await waiter).fence).toBe(70n);
    if (!leaves) await (await waiter).release();
    await lease.release();
  }
  expect(abandoned).toEqual(["id1", "id2", "id3"]); // the ends of lost leases are looked after, and the place was left
  expect(lines.size).toBe(0);
});

test("a store that refuses the place beside an adopted lease ends the waits and not the lease", async () => {
  const waiter = mutex.acquire();
  const adopting = adopt(50n);
  adoptions[0]?.resolve(adopted(60n));
  const lease = await adopting;
  stands[0]?.refused(new IndeterminateError("no"));
  await expect(waiter).rejects.toThrow("no");
  expect([lease.valid, lines.size]).toEqual([true, 1]);
});

test("an adoption asks for a token above all that this process had", async () => {
  await (await acquired(100n)).release();
  const adopting = adopt(50n);
  expect(adoptions[0]?.minFence).toBe(101n);
  adoptions[0]?.resolve(adopted(101n));
  expect((await adopting).fence).toBe(101n);
});

test.each([
  ["absent", "expired"],
  ["taken", "taken"],
] as const)("a handed-over lease that is %s: those who wait here keep their place", async (outcome, why) => {
  const waiter = mutex.acquire();
  const adopting = adopt(50n);
  adoptions[0]?.resolve({ outcome });
  await expect(adopting).rejects.toThrow(reason(why) as Error);
  expect(stands).toHaveLength(1);
  expect(abandoned).not.toContain("id0");
  stands[0]?.granted(60n);
  expect((await waiter).fence).toBe(60n);
});

test("an adoption without an answer is taken back", async () => {
  const adopting = adopt(50n);
  adoptions[0]?.reject(new IndeterminateError("no answer"));
  await expect(adopting).rejects.toThrow(IndeterminateError);
  expect(abandoned).toEqual(["id0"]);
});

test("an adoption whose answer comes when its ttl is over has an unknown outcome, and takes nothing from those here", async () => {
  const adopting = adopt(50n);
  const answer = adopted(60n);
  clock.advance(TTL_MS);
  const lease = await acquired(70n);
  adoptions[0]?.resolve(answer);
  await expect(adopting).rejects.toThrow(IndeterminateError);
  expect(abandoned).toEqual(["id0"]);
  lease.check();
});

test("an adoption ends a lease here that the store had given away, and this process had not heard of it", async () => {
  const lease = await acquired(10n);
  const adopting = adopt(50n);
  adoptions[0]?.resolve(adopted(60n));
  const next = await adopting;
  expect(() => lease.check()).toThrow(reason("taken") as Error);
  expect(await lease.release()).toBe("lapsed");
  next.check();
});

test("an adopted token that is not above the last one is given to nobody, and nothing is acquired in its place", async () => {
  const adopting = adopt(50n);
  const other = await acquired(100n);
  adoptions[0]?.resolve(adopted(60n));
  await settled();
  adoptions[1]?.resolve({ outcome: "taken" });
  await expect(adopting).rejects.toThrow(reason("taken") as Error);
  expect([released, attempted]).toEqual([["id0"], 0]);
  other.check();
});

test("of two adoptions at a time each has its own answer", async () => {
  const both = [adopt(50n), adopt(50n)];
  adoptions[1]?.resolve(adopted(60n));
  adoptions[0]?.resolve({ outcome: "taken" });
  await expect(both[0]).rejects.toThrow(LeaseLostError);
  (await both[1])?.check();
});

test("close() waits for an adoption, which is given up, and a line that adopts is not forgotten", async () => {
  const adopting = adopt(50n);
  await settled();
  expect(lines.size).toBe(1);
  const closing = lines.close();
  adoptions[0]?.resolve(adopted(60n));
  await expect(adopting).rejects.toMatchObject({ code: "CLOSED" });
  await closing;
  expect(abandoned).toEqual(["id0"]);
});

test("a line that did not get what it was to adopt is in nobody's use", async () => {
  const adopting = adopt(50n);
  adoptions[0]?.resolve({ outcome: "absent" });
  await expect(adopting).rejects.toThrow(LeaseLostError);
  await settled();
  expect(lines.size).toBe(0);
});

test("a store that cannot hand over says so, and the lease goes on", async () => {
  const lease = await acquired(10n);
  for (const method of ["handOver", "adopt"]) Object.defineProperty(stands[0], method, { value: undefined });
  await expect(lease.handOver()).rejects.toMatchObject({ argument: "backend" });
  lease.check();
});
