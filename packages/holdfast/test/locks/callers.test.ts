/** The callers of one process, of a mutex and of permits alike, before a store that tells of a grant more often than once. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import type { Grant } from "../../src/lease/hold.js";
import { Keeper } from "../../src/lease/keeper.js";
import type { Claim, ClaimObserver, StoreClaim } from "../../src/locks/backend.js";
import type { Callers } from "../../src/locks/callers.js";
import type { Share } from "../../src/locks/line-settings.js";
import { Lines } from "../../src/locks/lines.js";
import { Ownership } from "../../src/locks/ownership.js";
import { Schedule } from "../../src/time/schedule.js";

const SHARES: readonly Share[] = [
  { noun: "mutex", mode: "exclusive", weight: 1 },
  { noun: "semaphore", mode: "shared", weight: 1, permits: 2 },
];
const TERMS = { name: "name", ttlMs: 3_000, maxHoldMs: Number.POSITIVE_INFINITY, localTurns: 2 };

class Store {
  readonly clock = new ManualClock();
  readonly released: string[] = [];
  readonly abandoned: string[] = [];
  readonly #tellers: ((token: bigint) => void)[] = [];

  callersOf(share: Share): Callers {
    let ids = 0;
    const schedule = new Schedule(this.clock);
    const random = { fraction: () => 0, id: () => `id${ids++}` };
    const backend = { claim: (claim: Claim, observer: ClaimObserver) => this.#claim(claim, observer) };
    const keeper = new Keeper({ schedule, random, renew: () => new Promise(() => {}) });
    const self = { host: "here", pid: 7, label: "" };
    const lines = new Lines({ backend, keeper, schedule, random, self }, new Ownership(random), share.noun);
    return lines.find("key", TERMS, share);
  }

  /** Tells of the grant of the claim that stood as number `place`. */
  grant(place: number, token: bigint): void {
    this.#tellers[place]?.(token);
  }

  #claim(claim: Claim, observer: ClaimObserver): StoreClaim {
    const sentAt = this.clock.now();
    const standing: StoreClaim = {
      claim,
      attempt: () => new Promise(() => {}),
      stand: () => {
        const grantOf = (token: bigint): Grant => ({ token, turns: 2, ttlMs: claim.ttlMs, sentAt });
        this.#tellers.push((token) => observer.granted(standing, grantOf(token)));
      },
      release: (_, told) => {
        this.released.push(claim.id);
        queueMicrotask(() => told("released"));
      },
      forget: () => {},
      abandon: () => void this.abandoned.push(claim.id),
    };
    return standing;
  }
}

test.each(SHARES)("two messages about one grant of a $noun make one lease", async (share) => {
  const store = new Store();
  const callers = store.callersOf(share);
  const entered = callers.enter(1_000, undefined, 0n);
  store.grant(0, 10n);
  store.grant(0, 10n);
  const lease = await entered;
  expect([lease.fence, lease.valid, store.released]).toEqual([10n, true, []]);
  expect(await lease.release()).toBe("released");
});

test.each(SHARES)(
  "a message about a grant of a $noun that was released gives no caller a lease",
  async (share) => {
    const store = new Store();
    const callers = store.callersOf(share);
    const entered = callers.enter(1_000, undefined, 0n);
    store.grant(0, 10n);
    await (await entered).release();
    const next = callers.enter(1_000, undefined, 0n);
    store.grant(0, 10n);
    expect(store.released).toEqual(["id0", "id0"]);
    store.grant(1, 20n);
    expect((await next).fence).toBe(20n);
  },
);

test.each(SHARES)("a grant of a $noun that comes when its caller has left goes back", async (share) => {
  const store = new Store();
  const callers = store.callersOf(share);
  const entered = callers.enter(100, undefined, 0n);
  const outcome = expect(entered).rejects.toMatchObject({ code: "INDETERMINATE" });
  store.clock.advance(100);
  await outcome;
  expect(store.abandoned).toEqual(["id0"]);
  store.grant(0, 10n);
  expect(store.released).toEqual(["id0"]);
});

test.each(SHARES)(
  "leases of a $noun that ended early, and that nobody releases, do not pile up",
  async (share) => {
    const store = new Store();
    const callers = store.callersOf(share);
    for (let lease = 0; lease < 100; lease += 1) {
      const entered = callers.enter(1_000, undefined, 0n);
      store.grant(lease, BigInt(1_000 * (lease + 1)));
      await entered;
      store.clock.advance(3_000);
    }
    await callers.close();
    expect(store.abandoned.length).toBeLessThan(5);
    expect(store.released).toEqual([]);
  },
);
