/** The servers of the matrix: started for one test file, on a free port, and ended by it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FaultProxy, type LabServer, until } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { spawnContender } from "./contenders.ts";

export interface TestServer extends LabServer {
  stop(): Promise<void>;
}

const HOST = "127.0.0.1";

export async function startEmbedded(): Promise<TestServer> {
  const valkey = await EmbeddedValkey.start();
  // The engine is a thread of this process and cannot be stopped by a signal. Behind a proxy that holds
  // everything it looks the same from outside: connections stand, nothing is answered, and what was sent
  // meanwhile is carried out later.
  const front = await FaultProxy.start({ host: HOST, port: valkey.port });
  const direct = connectTo(valkey.port);
  return {
    title: "embedded Valkey",
    host: HOST,
    port: front.port,
    command: (command, ...words) => direct.call(command, ...words),
    freeze: async () => front.set({ up: "hold", down: "hold" }),
    thaw: async () => front.heal(),
    restart: async () => {
      front.cut();
      await valkey.restart();
    },
    spawn: (prefix) => spawnContender(front.url, prefix),
    async stop() {
      direct.disconnect();
      await front.close();
      await valkey.stop();
    },
  };
}

export async function startRedisServer(program: string): Promise<TestServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-conformance-"));
  let child = await launch(program, port, folder);
  const direct = connectTo(port);
  return {
    title: "redis-server",
    host: HOST,
    port,
    command: (command, ...words) => direct.call(command, ...words),
    freeze: async () => void child.kill("SIGSTOP"),
    thaw: async () => void child.kill("SIGCONT"),
    async restart() {
      await end(child);
      child = await launch(program, port, folder);
    },
    spawn: (prefix) => spawnContender(`redis://${HOST}:${port}`, prefix),
    async stop() {
      direct.disconnect();
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function launch(program: string, port: number, folder: string): Promise<ChildProcess> {
  const options = [
    "--port",
    String(port),
    "--bind",
    HOST,
    "--dir",
    folder,
    "--save",
    "",
    "--appendonly",
    "no",
  ];
  const child = spawn(program, options, { stdio: "ignore" });
  const probe = connectTo(port);
  try {
    await until("redis-server answers", async () => (await probe.ping().catch(() => "")) === "PONG");
  } finally {
    probe.disconnect();
  }
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

function connectTo(port: number): Redis {
  const client = new Redis({ host: HOST, port, retryStrategy: () => 5, maxRetriesPerRequest: null });
  client.on("error", () => {});
  return client;
}

async function freePort(): Promise<number> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, HOST, resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
