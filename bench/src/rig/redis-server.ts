/** One native redis-server for a run: own port, own folder, nothing on disk. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";

const PROGRAM = "redis-server";
const START_MS = 10_000;

export class NoRedisServer extends Error {}

/** What the server has done since it started. */
export interface ServerFigures {
  /** Commands run, those inside scripts included. */
  readonly commands: number;
  /** Times that it read from a socket: requests that arrive together are read together. */
  readonly reads: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly expiredKeys: number;
  readonly cpuMs: number;
}

/** The server of a run, or those of a question about several. */
export interface Servers {
  readonly ports: readonly number[];
  flush(): Promise<void>;
  /** What the servers did during `work`. */
  during<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly server: ServerFigures }>;
  numberAt(key: string): Promise<number>;
}

/** Commands that `figures()` itself runs between two calls. */
const OWN_COMMANDS = 1;

export class RedisServer implements Servers {
  readonly port: number;
  readonly version: string;
  readonly #process: ChildProcess;
  readonly #folder: string;
  readonly #client: Redis;

  private constructor(
    parts: { process: ChildProcess; folder: string; client: Redis },
    port: number,
    version: string,
  ) {
    this.#process = parts.process;
    this.#folder = parts.folder;
    this.#client = parts.client;
    this.port = port;
    this.version = version;
  }

  /** @throws {NoRedisServer} */
  static async start(): Promise<RedisServer> {
    const program = process.env["HOLDFAST_REDIS_SERVER"] ?? onPath();
    if (!program) throw new NoRedisServer(`needs ${PROGRAM} on PATH: apt-get install redis-server`);
    const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
    const port = await freePort();
    const settings = { port, bind: "127.0.0.1", dir: folder, save: "", appendonly: "no" };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const child = spawn(program, args, { stdio: "ignore" });
    const kill = (): boolean => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("close", () => process.off("exit", kill));
    await once(child, "spawn").catch((error: Error) => {
      rmSync(folder, { recursive: true, force: true });
      throw new NoRedisServer(`cannot run ${program}: ${error.message}`);
    });
    const client = new Redis({
      port,
      host: "127.0.0.1",
      maxRetriesPerRequest: null,
      retryStrategy: () => 10,
    });
    client.on("error", () => {});
    const ready = await Promise.race([client.info("server"), sleep(START_MS, null, { ref: false })]);
    if (!ready) throw new NoRedisServer(`${program} did not answer within ${START_MS} ms`);
    const version = /redis_version:(\S+)/.exec(ready)?.[1] ?? "unknown";
    return new RedisServer({ process: child, folder, client }, port, version);
  }

  get ports(): readonly number[] {
    return [this.port];
  }

  async figures(): Promise<ServerFigures> {
    const text = await this.#client.info("stats", "cpu");
    const figure = (name: string) => Number(new RegExp(`^${name}:(\\S+)`, "m").exec(text)?.[1]);
    return {
      commands: figure("total_commands_processed"),
      reads: figure("total_reads_processed"),
      bytesIn: figure("total_net_input_bytes"),
      bytesOut: figure("total_net_output_bytes"),
      expiredKeys: figure("expired_keys"),
      cpuMs: (figure("used_cpu_user") + figure("used_cpu_sys")) * 1_000,
    };
  }

  /** What the server did during `work`, without what asking for it costs. */
  async during<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly server: ServerFigures }> {
    const before = await this.figures();
    const result = await work();
    const after = await this.figures();
    return {
      result,
      server: {
        commands: after.commands - before.commands - OWN_COMMANDS,
        reads: after.reads - before.reads - OWN_COMMANDS,
        bytesIn: after.bytesIn - before.bytesIn,
        bytesOut: after.bytesOut - before.bytesOut,
        expiredKeys: after.expiredKeys - before.expiredKeys,
        cpuMs: after.cpuMs - before.cpuMs,
      },
    };
  }

  /** The memory that the server has allocated, without the buffers of its clients. */
  async memoryBytes(): Promise<number> {
    const text = await this.#client.info("memory");
    const figure = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(text)?.[1]);
    return figure("used_memory") - figure("mem_clients_normal");
  }

  async flush(): Promise<void> {
    await this.#client.flushall();
  }

  async numberAt(key: string): Promise<number> {
    return Number(await this.#client.get(key));
  }

  async stop(): Promise<void> {
    this.#client.disconnect();
    // Ctrl-C reaches it as well: it may be gone already.
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const closed = once(this.#process, "close");
      this.#process.kill("SIGTERM");
      await closed;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function onPath(): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  return folders
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, PROGRAM))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
