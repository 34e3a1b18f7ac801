/** A server for the programs of the documentation; each of the programs that run at the same time has its own. */
import { connect } from "node:net";
import { EmbeddedValkey } from "@holdfast/embedded";

export interface DocsServer {
  readonly url: string;
  /** Removes every key, so that a program finds what a reader finds: an empty server. */
  empty(): Promise<void>;
  stop(): Promise<void>;
}

export async function startServer(): Promise<DocsServer> {
  const valkey = await EmbeddedValkey.start();
  return { url: valkey.url, empty: () => flush(valkey.url), stop: () => valkey.stop() };
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
