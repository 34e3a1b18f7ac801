/** Ports of this machine: a free one, or the one that was asked for. */
import { once } from "node:events";
import { createServer } from "node:net";
import { toldOf, Unavailable } from "../failure.js";

const HOST = "127.0.0.1";

export async function freePort(): Promise<number> {
  return listenOnce(0);
}

/** Asked before anything is started, so that nobody waits for a sale that cannot be held. @throws {Unavailable} */
export async function requirePort(port: number): Promise<void> {
  try {
    await listenOnce(port);
  } catch (error) {
    const remedy = "choose another, or leave --port out";
    throw new Unavailable(`port ${port} on ${HOST} ${complaintOf(error)}: ${remedy}`);
  }
}

async function listenOnce(port: number): Promise<number> {
  const probe = createServer().listen(port, HOST);
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error(`no port on ${HOST}`);
  return address.port;
}

function complaintOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EADDRINUSE") return "is in use";
  return code === "EACCES" ? "is not for this user" : `cannot be had (${toldOf(error)})`;
}
