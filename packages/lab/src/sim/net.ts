/**
 * `net.createConnection` and `net.createServer` in a world: the host is the name of a node, and the socket is one of the world. A port
 * that code of the world listens on is reached under any host.
 */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { Link } from "./link.js";
import { Loopback, type LoopbackSocket } from "./loopback.js";
import { WorldSocket } from "./socket.js";

type Taken = Record<"createConnection" | "connect" | "createServer", unknown>;
const net = createRequire(import.meta.url)("node:net") as Taken;
const real: Taken = {
  createConnection: net.createConnection,
  connect: net.connect,
  createServer: net.createServer,
};

/**
 * @param linkTo the network between whoever's code runs and the node of that name; null: there is none
 * Returns how to give it back.
 */
export function takeNet(linkTo: (host: string) => Link | null): () => void {
  const loopback = new Loopback();
  const connect = (to: { host?: string; port?: number }): WorldSocket | LoopbackSocket => {
    const { host = "localhost", port = 6379 } = to;
    const near = loopback.connect(Number(port));
    if (near) return near;
    const link = linkTo(host);
    if (!link) throw new Error(`there is no node "${host}" in this world, or nobody who could connect to it`);
    return new WorldSocket(link, Number(port));
  };
  const createServer = loopback.createServer.bind(loopback);
  Object.assign(net, { createConnection: connect, connect, createServer });
  syncBuiltinESMExports();
  return () => {
    Object.assign(net, real);
    syncBuiltinESMExports();
  };
}
