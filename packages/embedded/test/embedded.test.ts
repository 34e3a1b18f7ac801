import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { promisify } from "node:util";
import {
  BootError,
  EmbeddedValkey,
  type EmbeddedValkeyOptions,
  type EngineExitedError,
  InvalidOptionError,
  ListenError,
  NotRunningError,
  PortInUseError,
  SaveError,
} from "@holdfast/embedded";
import { describe, expect, it } from "vitest";
import { type Reply, TcpClient } from "./resp.js";

describe("options", () => {
  const bad: [name: string, options: unknown][] = [
    ["port", { port: -1 }],
    ["port", { port: 65_536 }],
    ["port", { port: 1.5 }],
    ["port", { port: "6379" }],
    ["host", { host: "" }],
    ["config", { config: { databases: 4 } }],
    ["config", { config: "databases 4\nport 7000" }],
    ["config", { config: "maxclients 100" }],
    ["worker", { worker: 1 }],
    ["onLog", { onLog: "stdout" }],
    ["maxMemory", { maxMemory: "lots" }],
    ["maxMemory", { maxMemory: "4gb" }],
    ["maxMemory", { maxMemory: 0 }],
    ["maxmemory", { maxmemory: "1gb" }],
    ["options", null],
  ];
  it.each(bad)("refuses a bad %s: %j", async (option, options) => {
    const error = await EmbeddedValkey.start(options as EmbeddedValkeyOptions).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error).toMatchObject({ code: "INVALID_OPTION", option });
  });

  it("take a memory limit and further config, which comes last", async () => {
    await using valkey = await EmbeddedValkey.start({ maxMemory: "64mb", config: "databases 3" });
    expect(await ask(valkey, "CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", String(64 * 1024 * 1024)]);
    expect(await ask(valkey, "CONFIG", "GET", "databases")).toEqual(["databases", "3"]);
    await using other = await EmbeddedValkey.start({ config: "maxmemory 5mb" });
    expect(await ask(other, "CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", String(5 * 1024 * 1024)]);
  });

  it("leave a small number of clients to CONFIG SET", async () => {
    await using valkey = await EmbeddedValkey.start({ config: "maxclients 4096" });
    const first = await TcpClient.open(valkey.port);
    expect(await first.call("CONFIG", "SET", "maxclients", "1")).toBe("OK");
    expect(String(await ask(valkey, "PING"))).toContain("max number of clients");
    await first.close();
  });

  it("keep their port, whatever a client sets", async () => {
    await using valkey = await EmbeddedValkey.start();
    const client = await TcpClient.open(valkey.port);
    for (const port of ["1234", "65535"])
      expect(String(await client.call("CONFIG", "SET", "port", port))).toContain("Unable to listen");
    await client.call("CONFIG", "SET", "bind", "127.0.0.2");
    expect(await ask(valkey, "CONFIG", "GET", "port")).toEqual(["port", String(valkey.port)]);
    expect(await client.call("CONFIG", "SET", "port", "0")).toBe("OK");
    await (await TcpClient.open(valkey.port)).closed;
    await client.close();
    await valkey.restart();
    expect(await ask(valkey, "PING")).toBe("PONG");
  });

  it("pass the engine's log on", async () => {
    const lines: string[] = [];
    await using valkey = await EmbeddedValkey.start({ onLog: (line) => lines.push(line) });
    expect(valkey.isRunning).toBe(true);
    expect(lines.join("\n")).toContain("Ready to accept connections");
  });
});

describe.each([true, false])("start and stop, worker: %s", (worker) => {
  it("serves a client and stops without a trace", async () => {
    const valkey = await EmbeddedValkey.start({ worker });
    expect(valkey.url).toBe(`redis://127.0.0.1:${valkey.port}`);
    expect(await ask(valkey, "PING")).toBe("PONG");
    const client = await TcpClient.open(valkey.port);
    expect(await client.call("SET", "a", "b")).toBe("OK");
    expect(valkey.stats().connections).toBeGreaterThan(0);
    await Promise.all([valkey.stop(), valkey.stop()]);
    await client.closed;
    await valkey.stop();
    expect(valkey.isRunning).toBe(false);
    expect(valkey.stats()).toEqual({ memoryBytes: 0, connections: 0, passes: 0 });
    await expect(TcpClient.open(valkey.port)).rejects.toThrow("ECONNREFUSED");
    await expect(valkey.restart()).rejects.toThrow(NotRunningError);
  });

  it("says when the port is in use, or cannot be had", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const error = await EmbeddedValkey.start({ port, worker }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PortInUseError);
    expect(error).toMatchObject({ code: "PORT_IN_USE", port, host: "127.0.0.1" });
    taken.close();
    await once(taken, "close");
    await expect(EmbeddedValkey.start({ host: "203.0.113.1", worker })).rejects.toThrow(ListenError);
  });

  it("says why the engine refused its config, and frees the port", async () => {
    const error = await EmbeddedValkey.start({ config: "maxclients many", worker }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(BootError);
    expect(error).toMatchObject({ code: "BOOT_FAILED" });
    expect((error as BootError).message).toContain("maxclients");
  });

  it("restarts empty on the same port, or with its data", async () => {
    await using valkey = await EmbeddedValkey.start({ worker });
    const { port } = valkey;
    const runId = await runIdOf(valkey);
    await ask(valkey, "SET", "a", "1", "PX", "1000000");
    await valkey.restart({ keep: true });
    expect(valkey.port).toBe(port);
    expect(await runIdOf(valkey)).not.toBe(runId);
    expect(await ask(valkey, "GET", "a")).toBe("1");
    expect(await ask(valkey, "PTTL", "a")).toBeGreaterThan(900_000);
    await valkey.restart();
    expect(await ask(valkey, "GET", "a")).toBe(null);
  });

  it("keeps every write that it has answered", async () => {
    await using valkey = await EmbeddedValkey.start({ worker });
    for (let restarts = 0; restarts < 3; restarts += 1) {
      const counters = Array.from({ length: 4 }, () => countUntilClosed(valkey.port));
      await Promise.all(counters.map(({ counted }) => counted(20)));
      await valkey.restart({ keep: true });
      const told = await Promise.all(counters.map(({ last }) => last));
      expect(Number(await ask(valkey, "GET", "count"))).toBeGreaterThanOrEqual(Math.max(...told));
    }
  });

  it("runs on when it cannot save for a restart", async () => {
    await using valkey = await EmbeddedValkey.start({ worker, config: "requirepass secret" });
    await expect(valkey.restart({ keep: true })).rejects.toThrow(SaveError);
    expect(String(await ask(valkey, "PING"))).toContain("NOAUTH");
  });

  it("reports its end as an event, and can be started again", async () => {
    await using valkey = await EmbeddedValkey.start({ worker });
    const exits: EngineExitedError[] = [];
    valkey.on("exit", (error) => exits.push(error));
    const client = await TcpClient.open(valkey.port);
    const exited = once(valkey, "exit");
    client.socket.write("SHUTDOWN NOSAVE\r\n");
    await exited;
    await client.closed;
    expect(exits).toHaveLength(1);
    expect(exits[0]).toMatchObject({ name: "EngineExitedError", code: "ENGINE_EXITED", exitCode: 0 });
    expect(valkey.isRunning).toBe(false);
    await expect(TcpClient.open(valkey.port)).rejects.toThrow("ECONNREFUSED");
    await valkey.restart();
    expect(await ask(valkey, "PING")).toBe("PONG");
  });

  it("recovers from a crash what the append-only file held", async () => {
    const config = "appendonly yes\nappendfsync always\nenable-debug-command yes";
    await using valkey = await EmbeddedValkey.start({ worker, config });
    await ask(valkey, "SET", "fence", "41");
    const client = await TcpClient.open(valkey.port);
    const exited = once(valkey, "exit");
    client.socket.write("DEBUG PANIC\r\n");
    expect((await exited)[0]).toMatchObject({ exitCode: null, cause: expect.any(Error) });
    await valkey.restart({ keep: true });
    expect(await ask(valkey, "INCR", "fence")).toBe(42);
  });

  it("keeps concurrent calls in order", async () => {
    const valkey = await EmbeddedValkey.start({ worker });
    const calls = [
      valkey.restart(),
      valkey.restart({ keep: true }),
      valkey.stop(),
      valkey.restart(),
      valkey.stop(),
    ];
    const outcomes = (await Promise.allSettled(calls)).map(({ status }) => status);
    expect(outcomes).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "fulfilled"]);
    await expect(TcpClient.open(valkey.port)).rejects.toThrow("ECONNREFUSED");
  });
});

describe("the thread", () => {
  it("can be restarted and stopped inside an endless script", async () => {
    await using valkey = await EmbeddedValkey.start();
    for (const end of [() => valkey.restart(), () => valkey.stop()]) {
      const stuck = await TcpClient.open(valkey.port);
      await stuck.call("PING");
      await new Promise((resolve) => stuck.socket.write("EVAL 'while true do end' 0\r\n", resolve));
      await end();
      await stuck.closed;
    }
  });

  it.each([true, false])(
    "is stopped although a script without end keeps it from saving (begun: %s)",
    async (isBegun) => {
      const valkey = await EmbeddedValkey.start();
      const stuck = await TcpClient.open(valkey.port);
      await stuck.call("PING");
      await new Promise((resolve) => stuck.socket.write("EVAL 'while true do end' 0\r\n", resolve));
      const restarted = valkey.restart({ keep: true }).catch((error: unknown) => error);
      if (isBegun) await new Promise((resolve) => setImmediate(resolve));
      await valkey.stop();
      if (isBegun) expect(await restarted).toBeInstanceOf(NotRunningError);
      else expect(await restarted).toBeUndefined();
      await stuck.closed;
    },
  );

  it("starts many at once", async () => {
    const engines = await Promise.all(Array.from({ length: 8 }, () => EmbeddedValkey.start()));
    expect(new Set(engines.map(({ port }) => port)).size).toBe(8);
    expect(await Promise.all(engines.map((engine) => ask(engine, "PING")))).toEqual(
      engines.map(() => "PONG"),
    );
    await Promise.all(engines.map((engine) => engine.stop()));
  });

  it.each([true, false])(
    "lets the process end by itself, and warns of nothing (worker: %s)",
    async (worker) => {
      const script = `
      import { EmbeddedValkey } from "@holdfast/embedded";
      const valkey = await EmbeddedValkey.start({ worker: ${worker} });
      await valkey.restart({ keep: true });
      await valkey.stop();
      console.log("stopped");`;
      const args = ["--input-type=module", "--eval", script];
      const output = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
      expect(output).toEqual({ stdout: "stopped\n", stderr: "" });
    },
  );
});

async function ask(valkey: EmbeddedValkey, ...words: string[]): Promise<Reply> {
  const client = await TcpClient.open(valkey.port);
  const reply = await client.call(...words);
  await client.close();
  return reply;
}

async function runIdOf(valkey: EmbeddedValkey): Promise<string | undefined> {
  return /run_id:(\w+)/.exec(String(await ask(valkey, "INFO", "server")))?.[1];
}

/** Counts in Redis until the engine ends. `last`: the number that it was answered last. */
function countUntilClosed(port: number): {
  counted(times: number): Promise<void>;
  readonly last: Promise<number>;
} {
  let told = 0;
  let times = 0;
  const count = async (): Promise<number> => {
    const client = await TcpClient.open(port);
    let isOpen = true;
    const closed = client.closed.then(() => {
      isOpen = false;
    });
    while (isOpen) {
      const answer = client.call("INCR", "count").then((reply) => {
        told = Number(reply);
        times += 1;
      });
      await Promise.race([answer, closed]);
    }
    return told;
  };
  return {
    last: count(),
    async counted(wanted) {
      while (times < wanted) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
