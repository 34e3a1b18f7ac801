/** A server for the programs of the documentation; each of the programs that run at the same time has its own. */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import * as embedded from "@holdfast/embedded";
import { findServers } from "../servers.ts";

export interface DocsServer {
  readonly url: string;
  /** Removes every key, so that a program finds what a reader finds: an empty server. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startServer(): Promise<DocsServer> {
  const running = await startEmbedded();
  return { url: running.url, empty: () => flush(running.url), stop: () => running.stop() };
}

function startEmbedded(): Promise<Running> {
  const { EmbeddedValkey } = embedded as { EmbeddedValkey?: { start(): Promise<Running> } };
  return EmbeddedValkey ? EmbeddedValkey.start() : startProcess();
}

async function startProcess(): Promise<Running> {
  const port = await freePort();
  const program = findServers(process.env)["HOLDFAST_REDIS_SERVER"];
  if (!program) throw new Error("the documentation needs a server to run against, and there is none");
  const child = spawn(program, ["--port", String(port), "--save", "", "--appendonly", "no"], {
    stdio: "pipe",
  });
  const url = `redis://127.0.0.1:${port}`;
  await new Promise<void>((ready, fail) => {
    child.on("error", fail);
    child.stdout.on("data", (text) => String(text).includes("Ready to accept") && ready());
  });
  return {
    url,
    stop: () =>
      new Promise((done) => {
        child.on("close", () => done());
        child.kill();
      }),
  };
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => done(typeof address === "object" && address ? address.port : 0));
    });
  });
}

function flush(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((done, fail) => {
    const socket = connect(Number(port), hostname, () => socket.write("FLUSHALL\r\n"));
    socket.on("error", fail);
    socket.on("data", (reply) => {
      socket.destroy();
      if (String(reply).startsWith("+OK")) done();
      else fail(new Error(`FLUSHALL: ${reply}`));
    });
  });
}
