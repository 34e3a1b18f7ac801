/** Connects to servers through the clients, or the URLs, that a caller gave. */
import type { Schedule } from "../../time/schedule.js";
import { Connection } from "../connection.js";
import { detectClient } from "./detect.js";
import { openClient } from "./url.js";

/** The methods by which the compiler recognises a supported client, so that it refuses other objects. */
export type RedisClientLike =
  | { duplicate(...args: never[]): unknown; on(...args: never[]): unknown }
  | { customCommand(...args: never[]): unknown; close(): void };

/**
 * Closing a connection closes a client that was opened for a URL, and leaves another one open. When one cannot be opened, all are closed.
 * @throws {UnsupportedClientError} @throws {ClientNotInstalledError} @throws {InvalidArgumentError}
 */
export function connectAll(clients: readonly (RedisClientLike | string)[], schedule: Schedule): Connection[] {
  const connections: Connection[] = [];
  try {
    for (const client of [...clients]) {
      const isOpened = typeof client === "string";
      connections.push(
        new Connection(isOpened ? openClient(client) : detectClient(client), isOpened, schedule),
      );
    }
  } catch (error) {
    for (const connection of connections) void connection.close();
    throw error;
  }
  return connections;
}
