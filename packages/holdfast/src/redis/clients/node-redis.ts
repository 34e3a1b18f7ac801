/**
 * node-redis 6 (npm `redis`), standalone or behind Sentinel's own proxy.
 *
 * It never resends, and batches the commands of one tick by itself. Its `timeout` option does not
 * reject a command that was already written, so the limit of each call is the port's.
 */
import type { ClientSubscription, RedisClient } from "../client.js";
import type { Inbound } from "../port.js";

/** The part of a node-redis client that holdfast uses. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
  sendCommand(args: readonly string[]): Promise<unknown>;
  evalSha(sha1: string, options?: { keys?: string[]; arguments?: string[] }): Promise<unknown>;
  duplicate(): NodeRedisLike;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string, channel: string) => void): Promise<unknown>;
  ping(): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  destroy(): void;
}

export function nodeRedisClient(
  client: NodeRedisLike,
  lastError: () => Error | null = () => null,
): RedisClient {
  return {
    library: "node-redis",
    send: (commands) => commands.map((command) => client.sendCommand(command)),
    subscribe: (channel, inbound) => subscribe(client.duplicate(), channel, inbound),
    onDisruption(listener) {
      client.on("reconnecting", listener);
      return () => void client.off("reconnecting", listener);
    },
    trouble() {
      if (client.isReady !== false) return null;
      const text = client.isOpen
        ? "node-redis is not connected"
        : "node-redis is closed: call connect() first";
      return { text, cause: lastError() };
    },
    close: () => client.destroy(),
  };
}

function subscribe(connection: NodeRedisLike, channel: string, inbound: Inbound): ClientSubscription {
  let subscribed = false;
  connection.on("error", () => inbound.down(null));
  connection.on("reconnecting", () => inbound.down(null));
  // After a reconnect the client has subscribed again before it says "ready".
  connection.on("ready", () => {
    if (subscribed) inbound.up();
  });
  connection
    .connect()
    .then(() => connection.subscribe(channel, (text) => inbound.message(text)))
    .then(
      () => {
        subscribed = true;
        inbound.up();
      },
      (error: Error) => inbound.down(error),
    );
  return {
    ping: () => connection.ping(),
    close() {
      if (connection.isOpen) connection.destroy();
    },
  };
}
