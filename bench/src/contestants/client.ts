/** The client that every contestant gets: ioredis with its own defaults, counted. */
import { Redis } from "ioredis";

let sent = 0;
const uncounted = new WeakSet<object>();

/**
 * Counts what the program sends, on every connection and those the libraries duplicate. It has to be counted here: the
 * server's figures do not tell a command of a client from one inside a script.
 */
export function countRequests(): void {
  const { sendCommand } = Redis.prototype;
  Redis.prototype.sendCommand = function (this: Redis, ...args: Parameters<typeof sendCommand>) {
    if (!uncounted.has(this)) countSent();
    return sendCommand.apply(this, args);
  };
}

/** For a library that brings a client of its own. */
export function countSent(): void {
  sent += 1;
}

export function requestsSent(): number {
  return sent;
}

export async function connect(port: number, enableAutoPipelining = false): Promise<Redis> {
  const client = new Redis({ host: "127.0.0.1", port, enableAutoPipelining });
  await client.ping();
  return client;
}

/** One client for each of several servers. */
export function connectAll(ports: readonly number[]): Promise<Redis[]> {
  return Promise.all(ports.map((port) => connect(port)));
}

export function disconnectAll(clients: readonly Redis[]): void {
  for (const client of clients) client.disconnect();
}

/** For the work inside a lock, which is no request of the lock. */
export async function connectUncounted(port: number): Promise<Redis> {
  const client = await connect(port);
  uncounted.add(client);
  return client;
}
