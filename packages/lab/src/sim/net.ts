/** `net.createConnection` in a world: the host is the name of a node, and the socket is one of the world. */
import { createRequire, syncBuiltinESMExports } from "node:module";
import type { Link } from "./link.js";
import { WorldSocket } from "./socket.js";

const net = createRequire(import.meta.url)("node:net") as Record<"createConnection" | "connect", unknown>;
const real = { createConnection: net.createConnection, connect: net.connect };

/**
 * @param linkTo the network between whoever's code runs and the node of that name; null: there is none
 * Returns how to give it back.
 */
export function takeNet(linkTo: (host: string) => Link | null): () => void {
  const connect = ({ host = "localhost", port = 6379 }: { host?: string; port?: number }): WorldSocket => {
    const link = linkTo(host);
    if (!link) throw new Error(`there is no node "${host}" in this world, or nobody who could connect to it`);
    return new WorldSocket(link, Number(port));
  };
  Object.assign(net, { createConnection: connect, connect });
  syncBuiltinESMExports();
  return () => {
    Object.assign(net, real);
    syncBuiltinESMExports();
  };
}
