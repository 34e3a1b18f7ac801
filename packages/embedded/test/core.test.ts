import { createHash } from "node:crypto";
import { BootError, MemoryFiles, NotRunningError } from "@holdfast/embedded";
import { describe, expect, it } from "vitest";
import { CoreClient } from "./resp.js";
import { virtualCore } from "./virtual.js";

describe("a core", () => {
  it("answers in the pass after the one that reads: two passes per event", async () => {
    const { core } = await virtualCore();
    core.boot();
    const client = new CoreClient(core);
    core.pump();
    client.send("PING");
    expect(core.step()).toBe(1);
    expect(client.replies).toEqual([]);
    expect(core.step()).toBe(0);
    expect(client.replies).toEqual(["PONG"]);
  });

  it("boots once and refuses work before that", async () => {
    const { core } = await virtualCore();
    expect(() => core.step()).toThrow(NotRunningError);
    expect(() => core.connect({ receive() {} })).toThrow(NotRunningError);
    core.boot();
    expect(() => core.boot()).toThrow(NotRunningError);
  });

  it("lets its own config override the fixed arguments", async () => {
    const { core } = await virtualCore({
      config: "databases 4\nmaxmemory 32mb\nsave 60 1\nmaxclients 20000\n",
    });
    core.boot();
    const client = new CoreClient(core);
    expect(client.call("CONFIG", "GET", "databases")).toEqual(["databases", "4"]);
    expect(client.call("CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", String(32 * 1024 * 1024)]);
    expect(client.call("CONFIG", "GET", "save")).toEqual(["save", "60 1"]);
    expect(client.call("CONFIG", "GET", "maxclients")).toEqual(["maxclients", "20000"]);
    // The strings of the arguments share their bytes with these names and must be whole.
    expect(client.call("CONFIG", "GET", "logfile")).toEqual(["logfile", ""]);
  });

  it("reports a config it refuses, with the engine's own words", async () => {
    const { core } = await virtualCore({ config: "no-such-directive yes\n" });
    const error = thrownBy(() => core.boot()) as BootError;
    expect(error).toBeInstanceOf(BootError);
    expect(error.code).toBe("BOOT_FAILED");
    expect(error.message).toContain("no-such-directive");
  });

  it("believes the port it was given", async () => {
    const { core } = await virtualCore({ port: 7123 });
    core.boot();
    expect(String(new CoreClient(core).call("INFO", "server"))).toContain("tcp_port:7123");
  });

  it("serves urandom from the source that was passed in", async () => {
    const runId = async (seed: number) => {
      const { core } = await virtualCore({ seed });
      core.boot();
      return /run_id:(\w+)/.exec(String(new CoreClient(core).call("INFO", "server")))?.[1];
    };
    const [first, again, other] = [await runId(7), await runId(7), await runId(8)];
    expect(first).toMatch(/^[0-9a-f]{40}$/);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it("gives the same replies for the same seed, and others for another", async () => {
    const [first, again, other] = [await replyHash(5), await replyHash(5), await replyHash(6)];
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it("lives in virtual time: PX, TIME and active expiry", async () => {
    const { core, clock, advance } = await virtualCore();
    core.boot();
    const client = new CoreClient(core);
    clock.nowUs = 1_700_000_000_123_457;
    expect(client.call("TIME")).toEqual(["1700000000", "123457"]);
    client.call("SET", "lock", "me", "PX", 5000);
    advance(4_900);
    expect(client.call("PTTL", "lock")).toBe(100);
    advance(200);
    expect(client.call("GET", "lock")).toBe(null);
  });

  it("lives in virtual time: BLPOP ends at its time limit, or when an element comes", async () => {
    const { core, advance } = await virtualCore();
    core.boot();
    const waiter = new CoreClient(core);
    const giver = new CoreClient(core);
    expect(waiter.call("BLPOP", "list", 2)).toBe(undefined);
    advance(1_900);
    expect(waiter.replies).toEqual([]);
    advance(300);
    expect(waiter.replies.shift()).toBe(null);
    waiter.call("BLPOP", "list", 2);
    giver.call("RPUSH", "list", "x");
    expect(waiter.replies).toEqual([["list", "x"]]);
  });

  it("sleeps through the clock it was given", async () => {
    const { core, clock } = await virtualCore({ config: "enable-debug-command yes\n" });
    core.boot();
    expect(new CoreClient(core).call("DEBUG", "SLEEP", "0.25")).toBe("OK");
    expect(clock.sleptUs.reduce((sum, us) => sum + us, 0)).toBeCloseTo(250_000, 0);
  });

  it("carries Lua errors over the longjmp tag", async () => {
    const { core } = await virtualCore();
    core.boot();
    const client = new CoreClient(core);
    const script = "local ok, why = pcall(error, 'boom') return {tostring(ok), why}";
    expect(client.call("EVAL", script, 0)).toEqual(["false", "boom"]);
    expect(String(client.call("EVAL", "return redis.call('NOPE')", 0))).toContain("Unknown");
    expect(client.call("PING")).toBe("PONG");
  });

  it("keeps listeners apart by port: cluster mode opens a second one", async () => {
    const files = new MemoryFiles([["/nodes.conf", clusterOfOne]]);
    const config = "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout 1000000000\n";
    const { core, advance } = await virtualCore({ files, port: 7000, config });
    core.boot();
    advance(3_000);
    const client = new CoreClient(core);
    expect(client.call("SET", "k", "v")).toBe("OK");
    expect(String(client.call("CLUSTER", "SLOTS"))).toContain("7000");
  });
});

describe("files in memory", () => {
  it("survive a restart: SAVE and load", async () => {
    const first = await virtualCore();
    first.core.boot();
    const client = new CoreClient(first.core);
    client.call("SET", "kept", "yes");
    expect(client.call("SAVE")).toBe("OK");
    const second = await virtualCore({ files: new MemoryFiles(first.files.entries()) });
    second.core.boot();
    expect(new CoreClient(second.core).call("GET", "kept")).toBe("yes");
  });

  it("survive a crash: the append-only file", async () => {
    const config = "appendonly yes\nappendfsync always\n";
    const first = await virtualCore({ config });
    first.core.boot();
    new CoreClient(first.core).call("INCRBY", "fence", 41);
    const left = first.files.paths().filter((path) => path.startsWith("/appendonlydir/"));
    expect(left).toContain("/appendonlydir/appendonly.aof.manifest");
    const second = await virtualCore({ config, files: new MemoryFiles(first.files.entries()) });
    second.core.boot();
    expect(new CoreClient(second.core).call("INCR", "fence")).toBe(42);
  });

  it("read, write, remove and list by path", () => {
    const files = new MemoryFiles([["a/b.txt", "one"]]);
    files.write("/c", new Uint8Array([1, 2]));
    expect(files.paths()).toEqual(["/a/b.txt", "/c"]);
    expect(Buffer.from(files.read("./a/../a/b.txt") ?? []).toString()).toBe("one");
    expect(files.remove("/c")).toBe(true);
    expect(files.read("/c")).toBe(undefined);
  });
});

describe("a snapshot", () => {
  it("restores the data, and its former clients have hung up", async () => {
    const { core } = await virtualCore();
    core.boot();
    const client = new CoreClient(core);
    client.call("SET", "a", "1");
    const snapshot = core.snapshot();
    client.call("SET", "a", "2");
    core.restore(snapshot);
    expect(client.isClosed).toBe(true);
    core.pump();
    expect(core.connectionCount).toBe(0);
    const later = new CoreClient(core);
    expect(later.call("GET", "a")).toBe("1");
    expect(later.call("CLIENT", "LIST")).toMatch(/^id=\d+[^\n]*\n$/);
  });

  it("clones into another core, and brings its files along", async () => {
    const original = await virtualCore({ config: "appendonly yes\n" });
    original.core.boot();
    new CoreClient(original.core).call("SET", "a", "1");
    const snapshot = original.core.snapshot();
    const clone = await virtualCore();
    clone.core.restore(snapshot);
    expect(new CoreClient(clone.core).call("INCR", "a")).toBe(2);
    expect(new CoreClient(original.core).call("GET", "a")).toBe("1");
    const reborn = await virtualCore({
      config: "appendonly yes\n",
      files: new MemoryFiles(clone.files.entries()),
    });
    reborn.core.boot();
    expect(new CoreClient(reborn.core).call("GET", "a")).toBe("2");
  });

  it("brings an engine back after a crash", async () => {
    const { core } = await virtualCore();
    core.boot();
    const snapshot = core.snapshot();
    new CoreClient(core).call("SHUTDOWN", "NOSAVE");
    expect(core.exited).not.toBe(null);
    core.restore(snapshot);
    expect(core.exited).toBe(null);
    expect(new CoreClient(core).call("PING")).toBe("PONG");
  });
});

const nodeId = "1".repeat(40);
const shardId = "2".repeat(40);
const clusterOfOne = `${nodeId} 127.0.0.1:7000@17000,,tls-port=0,shard-id=${shardId} myself,master - 0 0 1 connected 0-16383
vars currentEpoch 1 lastVoteEpoch 0
`;

/** A hash over everything an engine said during a mixed workload in virtual time. */
async function replyHash(seed: number): Promise<string> {
  const { core, clock, advance } = await virtualCore({ seed });
  // Some of the engine's choices come from the boot clock instead of the random source.
  clock.nowUs += seed;
  core.boot();
  const hash = createHash("sha256");
  const client = new CoreClient(core);
  client.onReceive = (bytes) => hash.update(bytes).update(String(clock.nowUs));
  for (let i = 0; i < 200; i++) {
    client.call("SADD", "set", i);
    client.call("SET", `k${i}`, i, "PX", 50 + i * 10);
    client.call("SPOP", "set");
    client.call("RANDOMKEY");
    client.call("EVAL", "return {redis.call('DBSIZE'), redis.call('TIME')}", 0);
    advance(30);
  }
  client.call("INFO", "server");
  return hash.digest("hex");
}

function thrownBy(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}
