/** What the gem's own specs assert, in our words, with a hold that outlasts the ttl where theirs did not. */
import { until } from "@holdfast/conformance";
import { InvalidArgumentError } from "holdfast";
import { beforeEach, describe, expect, test } from "vitest";
import masterLock, {
  Backend,
  LockNotAcquiredError,
  MasterLock,
  NotStartedError,
  RedisLock,
  UnconfiguredError,
} from "../src/master-lock/index.ts";
import { onEachServer } from "./place.ts";

/** Just over a third of a ttl of 10 s: one renewal falls due. */
const RENEWAL_MS = 3_400;
const QUIET = { debug() {}, info() {}, warn() {} };

describe("RedisLock", () => {
  onEachServer((place) => {
    let key: string;
    let clock: ReturnType<ReturnType<typeof place>["clocked"]>["clock"];
    let lockOf: (owner: string) => RedisLock;

    beforeEach(() => {
      const clocked = place().clocked("masterlock");
      clock = clocked.clock;
      key = place().name();
      const { config } = new Backend();
      config.redis = clocked.client;
      lockOf = (owner) => new RedisLock({ config, key, owner, ttl: 10 });
    });

    const leftMs = (): Promise<number | null> => place().store("masterlock").leftMs(key);

    test("acquire is true when the lock is free, and then its key exists", async () => {
      const lock = lockOf("one");
      expect(await lock.acquire({ timeout: 0 })).toBe(true);
      expect(await leftMs()).toBeGreaterThan(0);
      expect([lock.key, lock.owner, lock.ttl, lock.config.keyPrefix]).toEqual([key, "one", 10, "masterlock"]);
    });

    test("acquire is false when another owner holds it", async () => {
      expect(await lockOf("one").acquire({ timeout: 0 })).toBe(true);
      expect(await lockOf("two").acquire({ timeout: 0 })).toBe(false);
      expect(await lockOf("two").acquire({ timeout: -1 })).toBe(false);
    });

    test("acquire is false for the owner that holds it already", async () => {
      const lock = lockOf("one");
      expect(await lock.acquire({ timeout: 0 })).toBe(true);
      expect(await lock.acquire({ timeout: 0 })).toBe(false);
      expect(await lockOf("one").acquire({ timeout: 0 })).toBe(false);
      expect(await lock.release()).toBe(true);
    });

    test("acquire waits for the end of the other's ttl", async () => {
      expect(await lockOf("one").acquire({ timeout: 0 })).toBe(true);
      const second = lockOf("two").acquire({ timeout: 30 });
      clock.advance(10_000);
      expect(await second).toBe(true);
    });

    test("acquire ends without the lock when the timeout is over first", async () => {
      expect(await lockOf("one").acquire({ timeout: 0 })).toBe(true);
      const second = lockOf("two").acquire({ timeout: 2 });
      clock.advance(2_000);
      expect(await second).toBe(false);
    });

    test("extend is true for the holder", async () => {
      const lock = lockOf("one");
      await lock.acquire({ timeout: 0 });
      expect(await lock.extend()).toBe(true);
    });

    test("extend is false while another owner holds it, and when nobody does", async () => {
      expect(await lockOf("one").extend()).toBe(false);
      await lockOf("two").acquire({ timeout: 0 });
      expect(await lockOf("one").extend()).toBe(false);
    });

    test("extend begins the ttl anew; without it the lock ends", async () => {
      const lock = lockOf("one");
      await lock.acquire({ timeout: 0 });
      for (let round = 0; round < 5; round++) {
        clock.advance(RENEWAL_MS);
        await place().events.next("holdfast:lock:renewed");
        expect(await lock.extend()).toBe(true);
      }
      clock.advance(20_000);
      expect(await lock.extend()).toBe(false);
      expect(lock.signal?.aborted).toBe(true);
      await until("the key is gone", async () => (await leftMs()) === null);
    });

    test("release is true for the holder, and the key is gone", async () => {
      const lock = lockOf("one");
      await lock.acquire({ timeout: 0 });
      expect(await leftMs()).not.toBeNull();
      expect(await lock.release()).toBe(true);
      expect(await leftMs()).toBeNull();
    });

    test("release is false for another owner, and the key stays", async () => {
      await lockOf("two").acquire({ timeout: 0 });
      expect(await lockOf("one").release()).toBe(false);
      expect(await leftMs()).not.toBeNull();
    });

    test("release is false when nobody holds it, and the second time; then others can have it", async () => {
      const lock = lockOf("one");
      expect(await lock.release()).toBe(false);
      await lock.acquire({ timeout: 0 });
      expect(await lock.release()).toBe(true);
      expect(await lock.release()).toBe(false);
      expect(await lockOf("two").acquire({ timeout: 0 })).toBe(true);
    });

    test("without a client it says so", async () => {
      const lock = new RedisLock({ config: new Backend().config, key, owner: "one", ttl: 1 });
      await expect(lock.acquire({ timeout: 0 })).rejects.toThrow(UnconfiguredError);
    });
  });
});

describe("MasterLock", () => {
  onEachServer((place) => {
    let key: string;

    beforeEach(() => {
      key = place().name();
      MasterLock.backend = new Backend();
      MasterLock.configure((config) => {
        config.redis = place().client();
        config.sleepTime = 0.025;
        config.logger = QUIET;
      });
    });

    test("it is started when start was called, and not before", () => {
      expect(MasterLock.started).toBe(false);
      MasterLock.start();
      expect(MasterLock.started).toBe(true);
      expect(masterLock).toBe(MasterLock);
    });

    describe("started", () => {
      beforeEach(() => MasterLock.start());

      test("a lock is not given twice, also to one caller", async () => {
        await MasterLock.synchronize(key, async () => {
          await expect(MasterLock.synchronize(key, { acquireTimeout: 0 }, () => {})).rejects.toThrow(
            LockNotAcquiredError,
          );
        });
      });

      test("the error's message is the key, and its cause knows the holder", async () => {
        await MasterLock.synchronize(key, async () => {
          await expect(MasterLock.synchronize(key, { acquireTimeout: 0.01 }, () => {})).rejects.toMatchObject(
            {
              name: "LockNotAcquiredError",
              message: key,
              cause: { code: "ACQUIRE_TIMEOUT", owner: { pid: process.pid } },
            },
          );
        });
      });

      test("a lock that was released is given again", async () => {
        await MasterLock.synchronize(key, () => {});
        await MasterLock.synchronize(key, { acquireTimeout: 0 }, () => {});
      });

      test("a held lock is renewed by itself, beyond its ttl", async () => {
        const { client, clock } = place().clocked("masterlock");
        MasterLock.config.redis = client;
        await MasterLock.synchronize(key, { ttl: 10, extendInterval: 0.05 }, async (lease) => {
          for (let heldMs = 0; heldMs < 25_000; heldMs += RENEWAL_MS) {
            clock.advance(RENEWAL_MS);
            await place().events.next("holdfast:lock:renewed");
          }
          lease.check();
          await expect(MasterLock.synchronize(key, { acquireTimeout: 0 }, () => {})).rejects.toThrow(
            LockNotAcquiredError,
          );
        });
      });

      test("synchronize returns the block's value", async () => {
        expect(await MasterLock.synchronize(key, () => 42)).toBe(42);
        expect(await MasterLock.synchronize(key, async () => "later")).toBe("later");
      });

      test("the block's error comes out, and the lock is free", async () => {
        const error = new Error("of the block");
        const failing = MasterLock.synchronize(key, () => {
          throw error;
        });
        await expect(failing).rejects.toBe(error);
        await MasterLock.synchronize(key, { acquireTimeout: 0 }, () => {});
      });

      test("a ttl that is not above the interval, and a negative interval, are argument errors", async () => {
        const block = (): never => {
          throw new Error("must not run");
        };
        for (const options of [
          { ttl: 1, extendInterval: 2 },
          { ttl: 2, extendInterval: 2 },
          { extendInterval: -1 },
          { ttl: 15 },
          { extendInterval: 60 },
        ]) {
          await expect(MasterLock.synchronize(key, options, block)).rejects.toThrow(InvalidArgumentError);
        }
      });

      test("if: false takes no lock and returns the block's value", async () => {
        const value = await MasterLock.synchronize(key, { if: false, acquireTimeout: 0 }, async (lease) => {
          expect(lease).toBeNull();
          return MasterLock.synchronize(key, { if: true, acquireTimeout: 0 }, (inner) => {
            expect(inner?.valid).toBe(true);
            return 42;
          });
        });
        expect(value).toBe(42);
      });

      test("unless: true takes no lock; either condition suffices, and a given undefined counts", async () => {
        const takesLock = async (options: { if?: boolean | null | undefined; unless?: boolean }) =>
          MasterLock.synchronize(key, options, (lease) => lease !== null);
        expect(await takesLock({ unless: true })).toBe(false);
        expect(await takesLock({ unless: false })).toBe(true);
        expect(await takesLock({ if: true, unless: true })).toBe(false);
        expect(await takesLock({ if: false, unless: false })).toBe(false);
        expect(await takesLock({ if: null })).toBe(false);
        expect(await takesLock({ if: undefined })).toBe(false);
        expect(await takesLock({ if: true })).toBe(true);
        expect(await takesLock({})).toBe(true);
      });

      test("null and false options fall back on the configuration, 0 does not", async () => {
        MasterLock.config.acquireTimeout = 0;
        MasterLock.config.ttl = 20;
        await MasterLock.synchronize(
          key,
          { ttl: null, acquireTimeout: false, extendInterval: undefined },
          async (lease) => {
            expect(lease.remainingMs).toBeGreaterThan(15_000);
            await expect(MasterLock.synchronize(key, () => {})).rejects.toThrow(LockNotAcquiredError);
          },
        );
      });

      test("times that cannot be are refused in seconds, by the gem's names", async () => {
        const run = (options: object): Promise<unknown> =>
          MasterLock.synchronize(key, { extendInterval: 0, ...options }, () => {});
        await expect(run({ ttl: 0.05 })).rejects.toThrow("ttl must be 0.1 to 2147483 seconds, not 0.05");
        await expect(run({ ttl: Number.POSITIVE_INFINITY })).rejects.toThrow("ttl must be 0.1 to");
        await expect(run({ acquireTimeout: "5" })).rejects.toThrow(
          "acquireTimeout must be a number of seconds",
        );
        await run({ ttl: 1.001, acquireTimeout: Number.POSITIVE_INFINITY });
      });

      test("a misspelt option is refused", async () => {
        const misspelt = { acquire_timeout: 1 } as object;
        await expect(MasterLock.synchronize(key, misspelt, () => {})).rejects.toThrow(/acquire_timeout/);
      });
    });
  });
});

test("the order of the checks: client, start, interval, ttl, and only then the condition", async () => {
  const backend = new Backend();
  const never = { ttl: 1, extendInterval: -1, if: false };
  const run = (options: object): Promise<unknown> => backend.synchronize("key", options, () => "ran");
  await expect(run(never)).rejects.toThrow(UnconfiguredError);
  backend.config.redis = { duplicate() {}, on() {} };
  await expect(run(never)).rejects.toThrow(NotStartedError);
  backend.start();
  await expect(run(never)).rejects.toThrow("extendInterval cannot be negative");
  await expect(run({ ...never, extendInterval: 1 })).rejects.toThrow(
    "ttl must be greater than extendInterval",
  );
  expect(await run({ ...never, extendInterval: 0 })).toBe("ran");
});

test("the defaults are the gem's, in seconds", () => {
  const { config } = new Backend();
  expect(config).toMatchObject({
    acquireTimeout: 5,
    extendInterval: 15,
    keyPrefix: "masterlock",
    redis: null,
    sleepTime: 5,
    ttl: 60,
  });
  expect(config.hostname).not.toBe("");
});

test("a backend is a MasterLock of its own", () => {
  const backend = new Backend();
  backend.start();
  backend.configure((config) => {
    config.ttl = 7;
  });
  expect([backend.started, backend.config.ttl]).toEqual([true, 7]);
  expect([new Backend().started, new Backend().config.ttl]).toEqual([false, 60]);
  MasterLock.backend = backend;
  expect([MasterLock.backend, MasterLock.config, MasterLock.logger]).toEqual([
    backend,
    backend.config,
    backend.config.logger,
  ]);
});
