/** Locks over a store in memory: what the port promises is enough for exclusion, waiting, renewal and loss. */
import { ManualClock } from "@holdfast/conformance";
import {
  AcquireTimeoutError,
  ClosedError,
  IndeterminateError,
  InvalidArgumentError,
  type Lease,
  LeaseLostError,
} from "holdfast";
import { type ClaimObserver, Locks, type StoreClaim } from "holdfast/locks";
import { beforeEach, describe, expect, test } from "vitest";
import { MemoryLocks, MemoryStore } from "./memory-locks.js";

let clock: ManualClock;
let store: MemoryStore;
let [one, two]: Locks[] = [];

const locks = (): Locks => new Locks(new MemoryLocks(store, clock), { clock });
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  clock = new ManualClock();
  store = new MemoryStore(clock);
  [one, two] = [locks(), locks()];
});

test("callers of several processes never overlap, and their fences rise in the order of holding", async () => {
  let inside = 0;
  const fences: bigint[] = [];
  const work = async (lease: Lease): Promise<void> => {
    inside += 1;
    expect(inside).toBe(1);
    fences.push(lease.fence);
    await settled();
    inside -= 1;
  };
  const callers = Array.from({ length: 12 }, (_, place) => (place % 2 ? one : two)?.mutex("it").run(work));
  await Promise.all(callers);
  expect(fences).toHaveLength(12);
  expect(fences).toEqual([...fences].sort((a, b) => Number(a - b)));
  expect(new Set(fences).size).toBe(12);
});

test("a wait ends with a lease, or with its time", async () => {
  const held = await one?.mutex("it").acquire();
  const [patient, hasty] = [two?.mutex("it").acquire(), two?.mutex("it").acquire({ wait: 50 })];
  expect(await two?.mutex("it").tryAcquire()).toBeNull();
  await settled();
  clock.advance(50);
  await expect(hasty).rejects.toBeInstanceOf(AcquireTimeoutError);
  expect(await held?.release()).toBe("released");
  expect((await patient)?.valid).toBe(true);
});

test("a lease is renewed for as long as it is held", async () => {
  const lease = await one?.mutex("it", { ttl: 3_000 }).acquire();
  for (let second = 0; second < 20; second++) {
    clock.advance(1_000);
    await settled();
  }
  expect([lease?.valid, await two?.mutex("it").tryAcquire()]).toEqual([true, null]);
  expect(await lease?.release()).toBe("released");
  await settled();
  expect(clock.pendingTimers).toBe(0);
});

test("a loss that the store pushes ends the lease at once, and the next in line has the name", async () => {
  const lease = await one?.mutex("it").acquire();
  const next = two?.mutex("it").acquire();
  const aborted = new Promise((resolve) => lease?.signal.addEventListener("abort", resolve));
  store.revoke("it");
  await aborted;
  expect(lease?.signal.reason).toBeInstanceOf(LeaseLostError);
  expect(lease?.signal.reason).toMatchObject({ reason: "revoked" });
  expect((await next)?.fence).toBeGreaterThan(lease?.fence ?? 0n);
  expect(await lease?.release()).toBe("lapsed");
  expect((await next)?.valid).toBe(true);
});

test("close() gives back what is held, and ends what waits", async () => {
  const lease = await one?.mutex("it").acquire();
  const waiting = one?.mutex("it").acquire();
  const next = two?.mutex("it").acquire();
  const closed = one?.close();
  await expect(waiting).rejects.toBeInstanceOf(ClosedError);
  await closed;
  expect([lease?.valid, (await next)?.valid]).toEqual([false, true]);
  await expect(one?.mutex("it").acquire()).rejects.toBeInstanceOf(ClosedError);
});

test("close() gives back a lease that ended early, however many names were used after it", async () => {
  const lease = await one?.mutex("limited", { ttl: "10m", maxHold: "1s" }).acquire();
  clock.advance(1_000);
  for (let n = 0; n < 1_001; n++) await one?.mutex(`other${n}`).run(() => {});
  expect([lease?.valid, store.leftMs("limited") > 0]).toEqual([false, true]);
  await one?.close();
  expect(store.leftMs("limited")).toBe(0);
});

describe("a store that breaks its contract", () => {
  type Naughty = Partial<Pick<StoreClaim, "stand" | "release">>;
  let naughty: (claim: StoreClaim, observer: ClaimObserver) => Naughty;
  let strange: Locks;

  beforeEach(() => {
    const backend = new MemoryLocks(store, clock);
    const claim = backend.claim.bind(backend);
    backend.claim = (wanted, observer) => {
      const made = claim(wanted, observer);
      return Object.assign(made, naughty(made, observer));
    };
    strange = new Locks(backend, { clock });
  });

  test("by telling of a grant twice makes one lease only", async () => {
    let token = 0n;
    naughty = (claim, observer) => ({
      stand: () =>
        queueMicrotask(() => {
          const grant = { turns: 1, ttlMs: 30_000, sentAt: clock.now() };
          token += 1n;
          observer.granted(claim, { ...grant, token });
          observer.granted(claim, { ...grant, token: token + 1n });
        }),
    });
    const lease = await strange.mutex("it").acquire();
    const other = strange.mutex("it").acquire({ wait: 50 });
    await settled();
    clock.advance(50);
    await expect(other).rejects.toBeInstanceOf(AcquireTimeoutError);
    expect([lease.valid, lease.fence]).toEqual([true, 1n]);
  });

  test("by throwing rejects the caller at once, and leaves none behind that would end the process", async () => {
    naughty = () => ({
      stand() {
        throw new Error("no place");
      },
    });
    await expect(strange.mutex("it").acquire()).rejects.toThrow("no place");
    clock.advance(60_000);
    await settled();
    expect(clock.pendingTimers).toBe(0);
  });

  test("by throwing in release() leaves an unknown outcome, and renews nothing", async () => {
    naughty = () => ({
      release() {
        throw new Error("no");
      },
    });
    const lease = await strange.mutex("it").tryAcquire();
    expect(await lease?.release()).toBe("unknown");
    clock.advance(60_000);
    await settled();
    expect(clock.pendingTimers).toBe(0);
  });
});

test("what is no store is refused", () => {
  for (const backend of [null, undefined, {}, "redis://localhost"])
    expect(() => new Locks(backend as never)).toThrow(InvalidArgumentError);
});

test("a caller that waits for a name of its own process is told that a mutex is not reentrant", async () => {
  const lease = await one?.mutex("it").acquire();
  const again = one?.mutex("it").acquire({ wait: 50 });
  clock.advance(50);
  await expect(again).rejects.toMatchObject({
    message: expect.stringContaining("(held by this process: a mutex is not reentrant)"),
    owner: { pid: process.pid, fence: lease?.fence },
  });
  await expect(one?.mutex("it").acquire({ wait: 0 })).rejects.toThrow("held by this process");
  await expect(two?.mutex("it").acquire({ wait: 0 })).rejects.toThrow("held by another caller");
});

class Driver extends Error {}

function failing(parts: Partial<StoreClaim>): Locks {
  const backend = new MemoryLocks(store, clock);
  const claim = backend.claim.bind(backend);
  backend.claim = (wanted, observer) => Object.assign(claim(wanted, observer), parts);
  return new Locks(backend, { clock });
}

function fail(): never {
  throw new Driver("socket closed");
}

test.each<[string, Partial<StoreClaim>]>([
  ["rejects", { attempt: async () => fail(), stand: fail }],
  ["throws", { attempt: fail, stand: fail }],
])(
  "a store that %s with an error of its driver leaves the outcome unknown, and its line whole",
  async (_, parts) => {
    const mutex = failing(parts).mutex("it");
    for (const call of [mutex.tryAcquire(), mutex.acquire(), mutex.acquire(), mutex.acquire({ wait: 0 })]) {
      const error = await call.catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(IndeterminateError);
      expect(error).toMatchObject({
        message: expect.stringMatching(/^'it': the store failed: .*socket closed; whether/),
        cause: expect.any(Driver),
      });
    }
    clock.advance(60_000);
    expect(clock.pendingTimers).toBe(0);
  },
);

test("a store that cannot make a claim refuses the call, and the next one has the name", async () => {
  const backend = new MemoryLocks(store, clock);
  const claim = backend.claim.bind(backend);
  backend.claim = fail;
  const mutex = new Locks(backend, { clock }).mutex("it");
  await expect(mutex.acquire()).rejects.toBeInstanceOf(IndeterminateError);
  await expect(mutex.tryAcquire()).rejects.toBeInstanceOf(IndeterminateError);
  backend.claim = claim;
  expect((await mutex.acquire()).valid).toBe(true);
});

test("an error of a driver that ends a wait, or outlasts it, is one of holdfast", async () => {
  const stood: { readonly claim: StoreClaim; readonly observer: ClaimObserver }[] = [];
  const backend = new MemoryLocks(store, clock);
  const make = backend.claim.bind(backend);
  backend.claim = (wanted, observer) => {
    const claim = Object.assign(make(wanted, observer), { stand: () => {} });
    stood.push({ claim, observer });
    return claim;
  };
  const mutex = new Locks(backend, { clock }).mutex("it");
  const told = expect.objectContaining({ code: "INDETERMINATE", cause: expect.any(Driver) });
  const refused = expect(mutex.acquire()).rejects.toEqual(told);
  stood[0]?.observer.refused(stood[0].claim, new Driver("no such table") as never);
  await refused;
  const troubled = expect(mutex.acquire({ wait: 50 })).rejects.toEqual(told);
  await settled();
  stood[1]?.observer.troubled(stood[1].claim, new Driver("no route") as never);
  clock.advance(50);
  await troubled;
});
