/** The client libraries, opened as their users would, with options that a seed chooses. */
import type { RedisClientLike } from "holdfast";
import { Redis } from "ioredis";
import { Redis as Redis5 } from "ioredis5";
import { createClient } from "redis";
import type { Dice } from "../../chance/dice.js";
import { CANARY, type ClientName } from "./task.js";

export interface OpenedClient {
  readonly client: RedisClientLike;
  close(): void;
}

const RECONNECT_MS = 50;

/** Resolves also where the server cannot be reached now: these clients go on trying. */
export function openClient(name: ClientName, host: string, port: number, dice: Dice): OpenedClient {
  if (name === "node-redis") {
    const client = createClient({ socket: { host, port, reconnectStrategy: RECONNECT_MS } });
    client.on("error", () => {});
    void client.connect().catch(() => {});
    return { client, close: () => (client.isOpen ? client.destroy() : undefined) };
  }
  const options = {
    host,
    port,
    retryStrategy: () => RECONNECT_MS,
    autoResendUnfulfilledCommands: dice.chance(0.5),
    maxRetriesPerRequest: dice.pick([null, 20]),
  };
  const client = name === "ioredis" ? new Redis(options) : new Redis5(options);
  client.on("error", () => {});
  return { client, close: () => client.disconnect() };
}

/**
 * What the recipes use: ioredis as it is without options. Each error says whose it is, because the stack of a server's reply
 * names no caller, and redis-semaphore does not catch a refresh that is refused.
 */
export function openCanaryClient(host: string, port: number): Redis {
  const client = new Redis({ host, port });
  client.on("error", () => {});
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, ...rest) => {
    command.promise.catch((error: Error) => {
      error.stack = `${error.stack ?? error}\n    at ${CANARY}`;
    });
    return send(command, ...rest);
  };
  return client;
}

/** The server that suffers no fault. */
export function openVault(path: string): Redis {
  const client = new Redis({ path });
  client.on("error", () => {});
  return client;
}
