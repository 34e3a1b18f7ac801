/**
 * ioredis-mock has the class of ioredis, and imitates the commands inside the process. It has no `call`, no server that runs the scripts
 * as Redis does, and no connection to lose, so a lock over it would prove nothing.
 */
import { UnsupportedClientError } from "../../errors.js";

/** By the members of version 8 that no client with a connection has. */
export function isIoredisMock(client: object): boolean {
  return "customCommands" in client && "subscriberMode" in client && "keyData" in client;
}

export function ioredisMockRefused(): UnsupportedClientError {
  return new UnsupportedClientError(
    "ioredis-mock is not supported (it imitates commands, and no server runs the scripts): for tests use @holdfast/embedded, " +
      "a real Valkey inside Node: const valkey = await EmbeddedValkey.start(); new Holdfast(valkey.url)",
  );
}
