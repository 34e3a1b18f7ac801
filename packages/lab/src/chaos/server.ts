/** ChaosServer: the server under fault. A real process, or the embedded engine, which suffers less. */
import { readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { freePort, ServerProcess, type SocketFile, type Target } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import type { ShimmedClock } from "./clock-shim.js";
import type { NetworkLink } from "./link.js";

export interface ChaosServer {
  /** Where proxies find it. */
  readonly way: Target | SocketFile;
  /** What only a process has; null for the embedded engine. */
  readonly process: ServerAsProcess | null;
  command(name: string, ...words: (string | number)[]): Promise<unknown>;
  /** Ends another program's script that keeps the server busy; by a connection of its own. */
  killScript(): Promise<void>;
  /** Ends it without warning and starts it with nothing. */
  restartEmpty(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServerAsProcess {
  readonly port: number;
  readonly clock: ShimmedClock | null;
  freeze(): void;
  thaw(): void;
  kill(): Promise<void>;
  /** Starts it anew with what is in its append-only file. */
  launch(): Promise<void>;
  /** Bytes in the append-only file. */
  fileSize(): number;
  truncateFile(toBytes: number): void;
}

export interface ProcessTerms {
  readonly program: string;
  readonly clock: ShimmedClock | null;
  readonly link: NetworkLink | null;
}

const FILES = "appendonlydir";

/**
 * Without fsync: what the process has written stays when it alone is killed, and a truncated file is what a machine
 * without power leaves behind. With one file, so that its length says what was written.
 */
const DURABLE = ["--appendonly", "yes", "--appendfsync", "no", "--auto-aof-rewrite-percentage", "0"];

export async function startProcess({ program, clock, link }: ProcessTerms): Promise<ChaosServer> {
  const place = link ? ["--bind", "127.0.0.1", link.serverIp, "--protected-mode", "no"] : [];
  const server = await ServerProcess.start({
    program,
    options: [...DURABLE, "--unixsocket", "redis.sock", "--busy-reply-threshold", "50", ...place],
    ...(link ? { by: link.at("server") } : {}),
    ...(clock ? { env: clock.env } : {}),
  });
  const path = join(server.folder, "redis.sock");
  const files = join(server.folder, FILES);
  const admin = commander({ path });
  const file = () => {
    const name = readdirSync(files).find((each) => each.endsWith(".incr.aof"));
    if (!name) throw new Error(`no append-only file in ${files}`);
    return join(files, name);
  };
  return {
    way: { path },
    process: {
      port: server.port,
      clock,
      freeze: () => server.freeze(),
      thaw: () => server.thaw(),
      kill: () => server.kill(),
      launch: () => server.launch(),
      fileSize: () => statSync(file()).size,
      truncateFile: (toBytes) => truncateSync(file(), toBytes),
    },
    command: admin.command,
    killScript: admin.killScript,
    async restartEmpty() {
      await server.kill();
      rmSync(files, { recursive: true, force: true });
      await server.launch();
    },
    async stop() {
      admin.close();
      await server.stop();
    },
  };
}

export async function startEmbedded(): Promise<ChaosServer> {
  const valkey = await EmbeddedValkey.start({ port: await freePort() });
  const way = { host: "127.0.0.1", port: valkey.port };
  const admin = commander(way);
  return {
    way,
    process: null,
    command: admin.command,
    killScript: admin.killScript,
    restartEmpty: () => valkey.restart(),
    async stop() {
      admin.close();
      await valkey.stop();
    },
  };
}

/** The server that suffers nothing, and keeps what the locks guard. */
/** A server that suffers no fault. */
export interface Vault {
  /** Its socket file. */
  readonly path: string;
  stop(): Promise<void>;
}

export async function startVault(program: string): Promise<Vault> {
  const server = await ServerProcess.start({ program, options: ["--unixsocket", "redis.sock"] });
  return {
    path: join(server.folder, "redis.sock"),
    async stop() {
      await server.stop();
    },
  };
}

function commander(
  way: Target | SocketFile,
): Pick<ChaosServer, "command" | "killScript"> & { close(): void } {
  const connect = () => {
    const options = { retryStrategy: () => 20, maxRetriesPerRequest: null };
    // A server that answers BUSY never passes the check of a client that has to connect anew.
    const client = new Redis({ ...way, ...options, enableReadyCheck: false });
    return client.on("error", () => {});
  };
  const [client, aside] = [connect(), connect()];
  return {
    command: (name, ...words) => client.call(name, ...words),
    // NOTBUSY: it has not begun, or has ended.
    killScript: async () => void (await aside.call("SCRIPT", "KILL").catch(() => {})),
    close() {
      client.disconnect();
      aside.disconnect();
    },
  };
}
