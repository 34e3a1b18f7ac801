/** Connects to one server through the client, or the URL, that a caller gave. */
import type { Schedule } from "../../time/schedule.js";
import { Connection } from "../connection.js";
import { detectClient } from "./detect.js";
import { openClient } from "./url.js";

/** The methods by which the compiler recognises a supported client, so that it refuses other objects. */
export type RedisClientLike =
  | { duplicate(...args: never[]): unknown; on(...args: never[]): unknown }
  | { customCommand(...args: never[]): unknown; close(): void };

/**
 * Closing the connection closes a client that was opened for a URL, and leaves another one open.
 * @throws {UnsupportedClientError} @throws {ClientNotInstalledError} @throws {InvalidArgumentError}
 */
export function connect(client: RedisClientLike | string, schedule: Schedule): Connection {
  const isOpened = typeof client === "string";
  return new Connection(isOpened ? openClient(client) : detectClient(client), isOpened, schedule);
}
