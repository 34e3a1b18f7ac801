/** Locks over a store in memory: what the port promises is enough for exclusion, waiting, renewal and loss. */
import { ManualClock } from "@holdfast/conformance";
import { AcquireTimeoutError, ClosedError, InvalidArgumentError, type Lease, LeaseLostError } from "holdfast";
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
  store = new MemoryStore();
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
