/** The sizes that the engine is built for. They change with its version, so a soak tries them. */
import { describe, expect, it } from "vitest";
import { CoreClient } from "./resp.js";
import { virtualCore } from "./virtual.js";

const megabyte = 1024 * 1024;

describe("descriptors", () => {
  it("reuses the lowest free fd: 10,000 sequential connections", async () => {
    const { core } = await virtualCore();
    core.boot();
    for (let i = 0; i < 10_000; i++) {
      const client = new CoreClient(core);
      expect(client.call("PING")).toBe("PONG");
      client.connection.vanish();
      core.pump();
    }
    expect(core.connectionCount).toBe(0);
    expect(new CoreClient(core).call("CLIENT", "LIST")).toContain("fd=4097 ");
  });

  it("serves 6,000 connections at once and closes those beyond its table", async () => {
    const { core } = await virtualCore();
    core.boot();
    const clients = Array.from({ length: 6_100 }, () => new CoreClient(core));
    core.pump();
    expect(core.connectionCount).toBeGreaterThan(6_000);
    const refused = clients.filter((client) => client.isClosed);
    expect(refused.length).toBe(clients.length - core.connectionCount);
    for (const client of refused) expect(String(client.replies[0])).toContain("max number of clients");
    for (const client of clients) if (!client.isClosed) client.send("PING");
    core.pump();
    expect(clients.filter((client) => client.replies[0] === "PONG").length).toBe(core.connectionCount);
  });

  it("holds more connections with a larger maxclients", async () => {
    const { core } = await virtualCore({ config: "maxclients 20000\n" });
    core.boot();
    const clients = Array.from({ length: 7_000 }, () => new CoreClient(core));
    core.pump();
    expect(core.connectionCount).toBe(7_000);
    expect(clients.at(-1)?.call("PING")).toBe("PONG");
  });
});

it("reads and writes above 2 GB, where pointers are negative", async () => {
  const { core } = await virtualCore();
  const memory = memoryOf(() => core.boot());
  const client = new CoreClient(core);
  client.call("PING");
  // Everything the engine asks for from now on lies behind these pages, which nobody touches.
  memory.grow((2048 * megabyte) / 65_536);
  const before = core.memoryBytes;
  const value = "y".repeat(30 * megabyte);
  expect(client.call("SET", "high", value)).toBe("OK");
  expect(client.call("GET", "high") === value).toBe(true);
  expect(core.memoryBytes).toBeGreaterThan(before + 30 * megabyte);
  const others = Array.from({ length: 500 }, () => new CoreClient(core));
  core.pump();
  expect(others.every((other) => other.call("PING") === "PONG")).toBe(true);
  expect(client.call("SAVE")).toBe("OK");
  expect(core.files.read("/dump.rdb")?.length).toBeGreaterThan(1000);
});

interface Memory {
  grow(pages: number): number;
}

/** The memory of the engine that is instantiated while `run` runs. */
function memoryOf(run: () => void): Memory {
  type Instance = new (module: object, imports: object) => { exports: { memory: Memory } };
  const api = (globalThis as unknown as { WebAssembly: { Instance: Instance } }).WebAssembly;
  const Original = api.Instance;
  let memory: Memory | undefined;
  api.Instance = class extends Original {
    constructor(module: object, imports: object) {
      super(module, imports);
      memory = this.exports.memory;
    }
  };
  try {
    run();
  } finally {
    api.Instance = Original;
  }
  if (memory === undefined) throw new Error("nothing was instantiated");
  return memory;
}
