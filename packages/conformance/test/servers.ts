/** The servers of the matrix: started for one test file, on a free port, and ended by it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  FaultProxy,
  freePort,
  type LabQuorum,
  type LabServer,
  type ProgramName,
  program as programOf,
  ServerProcess,
} from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { makeCertificates } from "./certificates.ts";
import { Contenders } from "./contenders.ts";

export interface TestServer extends LabServer {
  stop(): Promise<void>;
}

/** How a real server is set up. */
export interface Setup {
  readonly title: string;
  readonly program: ProgramName;
  /** Whether it speaks TLS and nothing else, which needs openssl. @default false */
  readonly isEncrypted?: boolean;
  /** Who the clients are, as a line of an ACL file without its first word. */
  readonly acl?: string;
}

const HOST = "127.0.0.1";
/** What SAVE writes into the folder of a server. */
const DUMP = "dump.rdb";

export async function startEmbedded(): Promise<TestServer> {
  // It keeps its port over a restart.
  const valkey = await EmbeddedValkey.start({ port: await freePort() });
  // The engine is a thread of this process and cannot be stopped by a signal. Behind a proxy that holds
  // everything it looks the same from outside: connections stand, nothing is answered, and what was sent
  // meanwhile is carried out later.
  const front = await FaultProxy.start({ host: HOST, port: valkey.port });
  const direct = connectTo(valkey.port);
  const contenders = new Contenders();
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
    spawn: (url, prefix) => contenders.spawn([url], prefix),
    async stop() {
      await contenders.stop();
      direct.disconnect();
      await front.close();
      await valkey.stop();
    },
  };
}

export async function startServer({ title, program, isEncrypted, acl }: Setup): Promise<TestServer> {
  const tls = isEncrypted ? makeCertificates(programOf("openssl")) : undefined;
  const options = acl ? ["--user", ...acl.split(" ")] : [];
  const server = await ServerProcess.start({ program: programOf(program), options, ...(tls ? { tls } : {}) });
  const { host, port } = server;
  const direct = connectTo(port, tls?.ca);
  const contenders = new Contenders(tls?.caFile);
  return {
    title,
    host,
    port,
    ...(tls ? { ca: tls.ca } : {}),
    ...(acl ? { user: { name: acl.split(" ")[0] as string, password: passwordIn(acl) } } : {}),
    command: (command, ...words) => direct.call(command, ...words),
    freeze: async () => server.freeze(),
    thaw: async () => server.thaw(),
    async restart() {
      await server.kill();
      rmSync(join(server.folder, DUMP), { force: true });
      await server.launch();
    },
    async rollBack() {
      await server.kill();
      await server.launch();
    },
    spawn: (url, prefix) => contenders.spawn([url], prefix),
    async stop() {
      await contenders.stop();
      direct.disconnect();
      await server.stop();
      tls?.remove();
    },
  };
}

/** The servers of one Redlock. */
export interface TestQuorum extends LabQuorum {
  stop(): Promise<void>;
}

/** One server for each setup, each a node. */
export async function startQuorum(title: string, setups: readonly Setup[]): Promise<TestQuorum> {
  const servers = await Promise.all(setups.map((setup) => startServer(setup)));
  const contenders = new Contenders();
  return {
    title,
    servers,
    spawn: (urls, prefix) => contenders.spawn(urls, prefix),
    async stop() {
      await contenders.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

function passwordIn(acl: string): string {
  return (
    acl
      .split(" ")
      .find((rule) => rule.startsWith(">"))
      ?.slice(1) ?? ""
  );
}

function connectTo(port: number, ca?: string): Redis {
  const options = { host: HOST, port, retryStrategy: () => 5, maxRetriesPerRequest: null };
  const client = new Redis({ ...options, ...(ca ? { tls: { ca } } : {}) });
  client.on("error", () => {});
  return client;
}
