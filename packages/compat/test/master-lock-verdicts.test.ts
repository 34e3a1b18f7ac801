/** Where the gem's behaviour was decided upon: each title names what was kept or mended. */
import { until, within } from "@holdfast/conformance";
import { beforeEach, describe, expect, test } from "vitest";
import { Backend, type Config, LockNotAcquiredError } from "../src/master-lock/index.ts";
import { holdfastOf } from "../src/shared-holdfast.ts";
import { onEachServer } from "./place.ts";

/** Just over a third of a ttl of 10 s: one renewal falls due. */
const RENEWAL_MS = 3_400;
const TERMS = { ttl: 10, extendInterval: 1 };

interface Latch {
  readonly opened: Promise<void>;
  open(): void;
}

function latch(): Latch {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function started(change: (config: Config) => void): { backend: Backend; lines: string[] } {
  const backend = new Backend();
  const lines: string[] = [];
  backend.configure((config) => {
    const level = (name: string) => (line: string) => void lines.push(`${name}: ${line}`);
    config.logger = { debug: level("debug"), info: level("info"), warn: level("warn") };
    change(config);
  });
  backend.start();
  return { backend, lines };
}

describe("verdicts", () => {
  onEachServer((place) => {
    let key: string;

    beforeEach(() => {
      key = place().name();
    });

    test("mended: a failed renewal ends no later one, of this lock or of the next", async () => {
      const proxy = await place().proxy();
      const { client, clock } = place().clocked("masterlock", proxy.url);
      const { backend } = started((config) => {
        config.redis = client;
      });
      for (const round of [1, 2]) {
        proxy.forget();
        await backend.synchronize(`${key}-${round}`, TERMS, async (lease) => {
          proxy.set({ up: "drop" }, "commands");
          clock.advance(RENEWAL_MS);
          await proxy.when("the renewal is lost", () => proxy.dropped("up") > 0);
          proxy.heal();
          clock.advance(2_000);
          await until("a later try succeeds", () => lease.remainingMs > 8_000);
          clock.advance(RENEWAL_MS);
          await until("and the next renewal", () => lease.remainingMs > 8_000);
          lease.check();
        });
      }
    });

    test("mended: an interval just below the ttl and a long sleep time let nothing lapse", async () => {
      const { client, clock } = place().clocked("masterlock");
      const { backend } = started((config) => {
        config.redis = client;
        config.sleepTime = 3_600;
      });
      await backend.synchronize(key, { ttl: 10, extendInterval: 9.999 }, async (lease) => {
        for (let heldMs = 0; heldMs < 25_000; heldMs += RENEWAL_MS) {
          clock.advance(RENEWAL_MS);
          await place().events.next("holdfast:lock:renewed");
        }
        lease.check();
      });
    });

    test("mended: a holder that lost the lock cannot free that of the next, though both are this process", async () => {
      const { backend, lines } = started((config) => {
        config.redis = place().client();
      });
      const store = place().store("masterlock");
      await backend.synchronize(key, async (outer) => {
        await store.forget(key);
        const second = started((config) => {
          config.redis = place().client();
        });
        const inner = latch();
        const innerHeld = latch();
        const nested = second.backend.synchronize(key, async (lease) => {
          innerHeld.open();
          await inner.opened;
          lease.check();
          return lease.fence;
        });
        await innerHeld.opened;
        expect(await outer.release()).toBe("lapsed");
        expect(await store.leftMs(key)).not.toBeNull();
        inner.open();
        expect(await nested).toBeGreaterThan(outer.fence);
      });
      expect(lines.at(-1)).toBe(`warn: Failed to release lock ${key}`);
    });

    test("mended: a second start changes nothing", async () => {
      const { backend } = started((config) => {
        config.redis = place().client();
      });
      await backend.synchronize(key, async () => {
        const { registry } = backend;
        backend.start();
        expect(backend.registry).toBe(registry);
        expect(backend.registry?.locks.map(({ lock }) => lock.key)).toEqual([key]);
      });
      expect(backend.registry?.locks).toEqual([]);
    });

    test("mended: many locks are renewed in one request", async () => {
      const proxy = await place().proxy();
      const { client, clock } = place().clocked("masterlock", proxy.url);
      const { backend } = started((config) => {
        config.redis = client;
      });
      const done = latch();
      const holders = Array.from({ length: 20 }, (_, place) =>
        backend.synchronize(`${key}-${place}`, TERMS, () => done.opened),
      );
      await until("all are held", () => backend.registry?.locks.length === 20);
      proxy.forget();
      clock.advance(RENEWAL_MS);
      expect(await place().events.next("holdfast:lock:renewed")).toMatchObject({ leases: 20, lost: 0 });
      expect(proxy.scriptCalls).toHaveLength(1);
      done.open();
      await Promise.all(holders);
    });

    test("mended: a release without an answer hides neither the block's error nor its value", async () => {
      const proxy = await place().proxy();
      const client = place().client(proxy.url);
      holdfastOf(client, { prefix: "masterlock", callTimeout: 50 });
      const { backend, lines } = started((config) => {
        config.redis = client;
      });
      const error = new Error("of the business");
      const failing = backend.synchronize(key, () => {
        proxy.set({ down: "drop" }, "commands");
        throw error;
      });
      await expect(within(failing, "the block's error")).rejects.toBe(error);
      expect(lines.at(-1)).toBe(`warn: Failed to release lock ${key}`);
      proxy.heal();
      const value = backend.synchronize(`${key}-2`, () => {
        proxy.set({ down: "drop" }, "commands");
        return 42;
      });
      expect(await within(value, "the block's value")).toBe(42);
    });

    test("mended: the block is told of a loss by a signal; the log keeps its line", async () => {
      const { client, clock } = place().clocked("masterlock");
      const { backend, lines } = started((config) => {
        config.redis = client;
      });
      await backend.synchronize(key, TERMS, async (lease) => {
        await place().store("masterlock").forget(key);
        clock.advance(RENEWAL_MS);
        await place().events.next("holdfast:lock:lost");
        expect(lease.signal.aborted).toBe(true);
        expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST", reason: "taken" });
        expect(() => lease.check()).toThrow(/is over/);
      });
      expect(lines).toEqual([
        `debug: Acquired lock ${key}`,
        `warn: Could not renew lease on lock ${key}`,
        `warn: Failed to release lock ${key}`,
      ]);
    });

    test("kept: a nested call for the same key waits, and then fails", async () => {
      const { backend, lines } = started((config) => {
        config.redis = place().client();
      });
      await backend.synchronize(key, async () => {
        const nested = backend.synchronize(key, { acquireTimeout: 0.02 }, () => {});
        await expect(nested).rejects.toThrow(LockNotAcquiredError);
      });
      expect(lines).toEqual([`debug: Acquired lock ${key}`, `debug: Released lock ${key}`]);
    });

    test("the holder is written down with the configured host name", async () => {
      const { backend } = started((config) => {
        config.redis = place().client();
        config.hostname = "machine-7";
        config.keyPrefix = "other";
      });
      await backend.synchronize(key, async () => {
        const other = holdfastOf(place().client(), { prefix: "other" });
        await expect(other.mutex(key).acquire({ wait: 0 })).rejects.toMatchObject({
          owner: { label: "machine-7", pid: process.pid },
        });
      });
    });

    test("close gives back what is held", async () => {
      const { backend } = started((config) => {
        config.redis = place().client();
      });
      await backend.synchronize(key, async (lease) => {
        await backend.close();
        expect(lease.signal.reason).toMatchObject({ reason: "closed" });
        expect(await place().store("masterlock").leftMs(key)).toBeNull();
      });
      await backend.synchronize(key, () => {}); // begins anew
    });
  });
});
