/** hf.inspector() beside holders and waiters of other processes, each a Holdfast of its own. */
import { needing, type ProgramName, program, ServerProcess, UNHURRIED, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Holdfast, type HoldfastOptions, type Inspector, type Lease } from "../src/index.js";
import { lockKeys } from "../src/redis/keys.js";
import { guidedUser } from "./guide.js";

interface Server {
  readonly port: number;
  stop(): Promise<void>;
}

const SERVERS: readonly [title: string, needs: readonly ProgramName[], start: () => Promise<Server>][] = [
  ["embedded Valkey", [], () => EmbeddedValkey.start()],
  ["redis-server", ["redis-server"], () => ServerProcess.start({ program: program("redis-server") })],
];

describe.each(SERVERS)("on %s", (_, needs, start) => {
  needing(describe, ...needs)("hf.inspector()", () => {
    let server: Server;
    let redis: Redis;
    let peers: Holdfast[];
    let inspector: Inspector;

    beforeAll(async () => {
      server = await start();
      redis = new Redis(server.port);
    });

    afterAll(async () => {
      redis?.disconnect();
      await server?.stop();
    });

    beforeEach(async () => {
      await redis.flushall();
      peers = [];
      inspector = await peer().inspector();
    });

    afterEach(async () => {
      await Promise.all(peers.map((each) => each.close()));
      await until(
        "nobody listens",
        async () => (await redis.pubsub("CHANNELS", "holdfast:inbox:*")).length === 0,
      );
    });

    function peer(label = "", options: HoldfastOptions = {}): Holdfast {
      const hf = new Holdfast(redis, { ...UNHURRIED, label, ...options });
      peers.push(hf);
      return hf;
    }

    /** A peer in line, its lease to come. */
    async function inLine(name: string, label: string, ttlMs = 30_000): Promise<{ lease: Promise<Lease> }> {
      const { waiting } = await inspector.lock(name);
      const lease = peer(label).mutex(name, { ttl: ttlMs }).acquire({ wait: 60_000 });
      lease.catch(() => {});
      await until("it stands in line", async () => (await inspector.lock(name)).waiting > waiting);
      return { lease };
    }

    async function names(pattern?: string, free?: boolean): Promise<string[]> {
      const found: string[] = [];
      for await (const { name } of inspector.locks({ pattern, free })) found.push(name);
      return found.sort();
    }

    function lost(lease: Lease): Promise<unknown> {
      return new Promise((resolve) => {
        lease.signal.addEventListener("abort", () => resolve(lease.signal.reason));
        if (lease.signal.aborted) resolve(lease.signal.reason);
      });
    }

    describe("lock", () => {
      test("a name that was never used is free", async () => {
        expect(await inspector.lock("never")).toEqual({
          name: "never",
          holder: null,
          waiters: [],
          waiting: 0,
          lastFence: 0n,
          banned: 0,
        });
      });

      test("the holder: its process, its fence, its time", async () => {
        const lease = await peer("worker").mutex("a", { ttl: 600_000, localTurns: 5 }).acquire();
        const { holder, lastFence } = await inspector.lock("a");
        expect(holder).toMatchObject({
          process: { label: "worker", pid: process.pid },
          fence: lease.fence,
          ttlMs: 600_000,
        });
        // Within the time of a test.
        expect(holder?.leftMs).toBeGreaterThan(500_000);
        expect(holder?.leftMs).toBeLessThanOrEqual(600_000);
        expect(holder?.heldMs).toBeLessThan(100_000);
        expect(Math.abs((holder?.sinceMs ?? 0) - Date.now())).toBeLessThan(100_000);
        expect(lastFence).toBeGreaterThanOrEqual(lease.fence);
      });

      test("a released name is free, and its last fence known", async () => {
        const lease = await peer().mutex("a").acquire();
        await lease.release();
        expect(await inspector.lock("a")).toMatchObject({ holder: null, lastFence: expect.any(BigInt) });
        expect((await inspector.lock("a")).lastFence).toBeGreaterThanOrEqual(lease.fence);
      });

      test("a lease that ran out holds no more", async () => {
        const hf = peer();
        await hf.mutex("a", { ttl: 30_000 }).acquire();
        const key = lockKeys("holdfast", "a")[0] as string;
        await redis.pexpire(key, (await redis.pttl(key)) - 31_000);
        expect(await inspector.lock("a")).toMatchObject({ holder: null });
      });

      test("who waits, in order, and not the dead", async () => {
        await peer("first").mutex("a").acquire();
        await inLine("a", "second");
        await inLine("a", "third");
        await inLine("a", "fourth");
        const [, , waiters = ""] = lockKeys("holdfast", "a");
        const [id = "", entry = ""] =
          Object.entries(await redis.hgetall(waiters)).find(([, value]) => value.includes("third")) ?? [];
        await redis.hset(
          waiters,
          id,
          entry.replace(/^\d+/, (seen) => String(Number(seen) - 60_000)),
        );
        const { waiters: line, waiting } = await inspector.lock("a");
        expect(line.map(({ process }) => process?.label)).toEqual(["second", "fourth"]);
        expect(waiting).toBe(2);
        expect(line[0]).toMatchObject({ process: { pid: process.pid }, ttlMs: 30_000 });
        expect(line[0]?.silentMs).toBeLessThan(11_000);
      });

      test("a holder that another program wrote down is held all the same", async () => {
        await peer("one").mutex("a").acquire();
        const key = lockKeys("holdfast", "a")[0] as string;
        await redis.set(key, ((await redis.get(key)) as string).replace(/\{.*$/, "none of JSON"));
        expect((await inspector.lock("a")).holder).toMatchObject({
          process: null,
          fence: expect.any(BigInt),
        });
      });

      test("keys that hold something else are an error", async () => {
        await redis.set(lockKeys("holdfast", "text")[0] as string, "something else");
        await redis.lpush(lockKeys("holdfast", "list")[0] as string, "x");
        for (const name of ["text", "list"]) {
          await expect(inspector.lock(name)).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
        }
        expect(await names("*", true)).toEqual([]);
      });

      test("the name is checked", async () => {
        await expect(inspector.lock("")).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
      });
    });

    describe("locks", () => {
      test("what is held or waited for, by pattern; what is free only when asked for", async () => {
        const hf = peer();
        for (const name of ["deploy:a", "deploy:b", "nightly", "we{ird}:lo*ck"])
          await hf.mutex(name).acquire();
        await (await hf.mutex("deploy:free").acquire()).release();
        await redis.set("other", "key");
        expect(await names()).toEqual(["deploy:a", "deploy:b", "nightly", "we{ird}:lo*ck"]);
        expect(await names("deploy:*")).toEqual(["deploy:a", "deploy:b"]);
        expect(await names("deploy:*", true)).toEqual(["deploy:a", "deploy:b", "deploy:free"]);
        expect(await names("nightl[xy]")).toEqual(["nightly"]);
        expect(await names("none")).toEqual([]);
      });

      test("prefixes do not mix, whatever they look like", async () => {
        await peer("", { prefix: "fast" }).mutex("x").acquire();
        await peer("", { prefix: "a*b" }).mutex("star").acquire();
        await peer("", { prefix: "aXb" }).mutex("letter").acquire();
        const found: string[] = [];
        const foreign = await peer("", { prefix: "a*b" }).inspector();
        for await (const { name } of foreign.locks()) found.push(name);
        expect(found).toEqual(["star"]);
        await peer("", { prefix: "holdfast" }).mutex("y").acquire();
        const short = await peer("", { prefix: "fast" }).inspector();
        found.length = 0;
        for await (const { name } of short.locks()) found.push(name);
        expect(found).toEqual(["x"]);
      });

      test("a prefix that the client adds is no part of the names", async () => {
        const client = new Redis(server.port, { keyPrefix: "app:" });
        const hf = new Holdfast(client, UNHURRIED);
        peers.push(hf);
        await hf.mutex("prefixed").acquire();
        const found: string[] = [];
        for await (const { name, holder } of (await hf.inspector()).locks()) if (holder) found.push(name);
        expect(found).toEqual(["prefixed"]);
        await hf.close();
        client.disconnect();
      });

      test("two thousand, each once", async () => {
        const hf = peer();
        const wanted = Array.from({ length: 2_000 }, (_, place) => `many:${place}`).sort();
        await Promise.all(wanted.map((name) => hf.mutex(name).acquire()));
        expect(await names("many:*")).toEqual(wanted);
      });
    });

    describe("forceRelease", () => {
      test("the holder hears of it, its lease is over with the reason 'revoked', the name is free", async () => {
        const lease = await peer("stuck").mutex("a", { localTurns: 7 }).acquire();
        // A holder listens once it has held for a moment.
        await until(
          "it listens",
          async () => (await redis.pubsub("CHANNELS", "holdfast:inbox:*")).length > 0,
        );
        const before = await inspector.lock("a");
        const result = await inspector.forceRelease("a");
        expect(result).toMatchObject({ outcome: "released", told: true, next: null });
        expect(result.holder?.fence).toBe(lease.fence);
        expect(result.lastFence).toBeGreaterThan(before.lastFence);
        expect(await lost(lease)).toMatchObject({
          code: "LEASE_LOST",
          reason: "revoked",
          fence: lease.fence,
        });
        expect(() => lease.check()).toThrow();
        expect(await inspector.lock("a")).toMatchObject({ holder: null, lastFence: result.lastFence });
        const after = await peer().mutex("a").acquire();
        expect(after.fence).toBeGreaterThan(result.lastFence);
      });

      test("a holder that listens from its start hears of it", async () => {
        const lease = await peer("ears", { listenAfter: 0 }).mutex("a", { ttl: "60s" }).acquire();
        await until(
          "it listens",
          async () => (await redis.pubsub("CHANNELS", "holdfast:inbox:*")).length > 0,
        );
        expect(await inspector.forceRelease("a")).toMatchObject({ told: true });
        expect(await lost(lease)).toMatchObject({ reason: "revoked" });
      });

      test("the first in line gets it, with a fence above all that was reserved", async () => {
        const lease = await peer("first").mutex("a", { localTurns: 1_000 }).acquire();
        const second = await inLine("a", "second");
        await inLine("a", "third");
        const { lastFence } = await inspector.lock("a");
        const result = await inspector.forceRelease("a", { fence: lease.fence });
        expect(result).toMatchObject({ outcome: "handed-over", holder: { process: { label: "first" } } });
        expect(result.next).toMatchObject({ process: { label: "second" } });
        const granted = await second.lease;
        expect(granted.fence).toBeGreaterThan(lastFence);
        expect(granted.fence).toBe(result.next?.fence);
        expect(granted.valid).toBe(true);
        expect(await inspector.lock("a")).toMatchObject({
          waiting: 1,
          holder: { process: { label: "second" } },
        });
      });

      test("a holder that does not listen learns of it by its next renewal", async () => {
        const lease = await peer("deaf").mutex("a", { ttl: 900 }).acquire();
        const result = await inspector.forceRelease("a");
        expect(result.outcome).toBe("released");
        expect(await lost(lease)).toMatchObject({ code: "LEASE_LOST" });
        expect(await lease.release()).toBe("lapsed");
      });

      test("nothing is done when nobody holds, or another than was meant", async () => {
        expect(await inspector.forceRelease("a")).toEqual({
          outcome: "free",
          holder: null,
          told: false,
          next: null,
          lastFence: 0n,
        });
        const lease = await peer("new").mutex("a").acquire();
        const result = await inspector.forceRelease("a", { fence: lease.fence - 1n });
        expect(result).toMatchObject({ outcome: "changed", holder: { fence: lease.fence }, told: false });
        expect(lease.valid).toBe(true);
        expect((await inspector.lock("a")).holder?.fence).toBe(lease.fence);
      });

      test("the fence of a later turn of the holder's process is one of its own", async () => {
        const mutex = peer("turns").mutex("a", { localTurns: 3 });
        const first = await mutex.acquire();
        const second = mutex.acquire();
        await first.release();
        const lease = await second;
        expect((await inspector.forceRelease("a", { fence: first.fence + 3n })).outcome).toBe("changed");
        const result = await inspector.forceRelease("a", { fence: lease.fence });
        expect(result).toMatchObject({ outcome: "released", holder: { fence: first.fence } });
      });

      test("a repeat with the fence changes nothing more", async () => {
        const lease = await peer("first").mutex("a").acquire();
        const second = await inLine("a", "second");
        await inspector.forceRelease("a", { fence: lease.fence });
        const granted = await second.lease;
        expect((await inspector.forceRelease("a", { fence: lease.fence })).outcome).toBe("changed");
        expect(granted.valid).toBe(true);
      });

      test("a fenced record refuses what the old holder still writes, once the next one has been there", async () => {
        const lease = await peer("first").mutex("a").acquire();
        const second = await inLine("a", "second");
        await inspector.forceRelease("a");
        const next = await second.lease;
        await peer().record("r").put("new", { fence: next });
        await expect(peer().record("r").put("old", { fence: lease })).rejects.toMatchObject({
          code: expect.any(String),
        });
      });

      test("where another program owns a key nothing is done", async () => {
        const [lock = "", line = "", , banned = ""] = lockKeys("holdfast", "a");
        const lease = await peer().mutex("a").acquire();
        for (const key of [line, banned]) {
          await redis.set(key, "something else");
          await expect(inspector.forceRelease("a")).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
          await redis.del(key);
        }
        expect((await inspector.lock("a")).holder?.fence).toBe(lease.fence);
        await redis.set(lock, "something else");
        await expect(inspector.forceRelease("a")).rejects.toMatchObject({ code: "SERVER_ERROR" });
        expect(await redis.get(lock)).toBe("something else");
      });

      test("wrong arguments, and a closed Holdfast", async () => {
        await expect(inspector.forceRelease("a", { fence: 0n })).rejects.toMatchObject({ argument: "fence" });
        await expect(inspector.forceRelease("a", { force: true } as object)).rejects.toMatchObject({
          argument: "force",
        });
        await expect(async () => {
          for await (const _ of inspector.locks({ pattern: "" }));
        }).rejects.toMatchObject({ argument: "pattern" });
        const hf = peer();
        await hf.close();
        await expect(hf.inspector()).rejects.toMatchObject({ code: "CLOSED" });
      });
    });

    describe("permissions", () => {
      test("the guide's ACL line, with what the guide to inspecting adds", async () => {
        const guide = guidedUser().replace(/^\S+/, "looker");
        await redis.call("ACL", "SETUSER", ...guide.split(/\s+/), "+scan");
        const client = new Redis(server.port, { username: "looker", password: "secret" });
        const hf = new Holdfast(client, UNHURRIED);
        peers.push(hf);
        const lease = await hf.mutex("a").acquire();
        const looker = await hf.inspector();
        expect((await looker.lock("a")).holder?.fence).toBe(lease.fence);
        const found: string[] = [];
        for await (const { name } of looker.locks()) found.push(name);
        expect(found).toEqual(["a"]);
        expect((await looker.forceRelease("a")).outcome).toBe("released");
        await hf.close();
        client.disconnect();
      });
    });
  });
});
