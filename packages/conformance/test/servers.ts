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
import { type Certificates, makeCertificates } from "./certificates.ts";
import { spawnContender } from "./contenders.ts";

export interface TestServer extends LabServer {
  stop(): Promise<void>;
}

/** How a real server is set up. */
export interface Setup {
  readonly title: string;
  readonly program: string;
  /** Path of openssl: with it, the server speaks TLS and nothing else. */
  readonly openssl?: string;
  /** Who the clients are, as a line of an ACL file without its first word. */
  readonly acl?: string;
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
    spawn: (url, prefix) => spawnContender(url, prefix),
    async stop() {
      direct.disconnect();
      await front.close();
      await valkey.stop();
    },
  };
}

export async function startServer({ title, program, openssl, acl }: Setup): Promise<TestServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-conformance-"));
  const certificates = openssl ? makeCertificates(openssl, folder) : undefined;
  const ca = certificates?.ca;
  const options = [
    ...["--bind", HOST, "--dir", folder, "--save", "", "--appendonly", "no"],
    ...(certificates ? tlsOptions(port, certificates) : ["--port", String(port)]),
    ...(acl ? ["--user", ...acl.split(" ")] : []),
  ];
  const launch = (): Promise<ChildProcess> => launchServer(program, options, connectTo(port, ca));
  let child = await launch();
  const direct = connectTo(port, ca);
  return {
    title,
    host: HOST,
    port,
    ...(ca ? { ca } : {}),
    ...(acl ? { user: { name: acl.split(" ")[0] as string, password: passwordIn(acl) } } : {}),
    command: (command, ...words) => direct.call(command, ...words),
    freeze: async () => void child.kill("SIGSTOP"),
    thaw: async () => void child.kill("SIGCONT"),
    async restart() {
      await end(child);
      child = await launch();
    },
    spawn: (url, prefix) => spawnContender(url, prefix, certificates?.caFile),
    async stop() {
      direct.disconnect();
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function tlsOptions(port: number, { caFile, certFile, keyFile }: Certificates): string[] {
  const files = ["--tls-cert-file", certFile, "--tls-key-file", keyFile, "--tls-ca-cert-file", caFile];
  return ["--port", "0", "--tls-port", String(port), "--tls-auth-clients", "no", ...files];
}

function passwordIn(acl: string): string {
  return (
    acl
      .split(" ")
      .find((rule) => rule.startsWith(">"))
      ?.slice(1) ?? ""
  );
}

async function launchServer(program: string, options: string[], probe: Redis): Promise<ChildProcess> {
  const child = spawn(program, options, { stdio: "ignore" });
  try {
    await until("the server answers", async () => (await probe.ping().catch(() => "")) === "PONG");
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

function connectTo(port: number, ca?: string): Redis {
  const options = { host: HOST, port, retryStrategy: () => 5, maxRetriesPerRequest: null };
  const client = new Redis({ ...options, ...(ca ? { tls: { ca } } : {}) });
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
