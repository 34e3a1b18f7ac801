/**
 * ioredis 5 and 6, and iovalkey, which comes from ioredis 5: standalone or behind Sentinel.
 *
 * By default they resend commands whose reply a broken connection swallowed, and keep commands in an
 * offline queue. Both are harmless here: scripts bear being repeated, and each call has its own limit.
 */
import type { ClientSubscription, RedisClient } from "../client.js";
import type { Inbound } from "../port.js";
import { Disruptions } from "./disruptions.js";

interface Pipeline {
  exec(): Promise<[error: Error | null, reply: unknown][] | null>;
}

/** The part of an ioredis client that holdfast uses. */
export interface IoredisLike {
  readonly status?: string;
  call(command: string, ...args: string[]): Promise<unknown>;
  pipeline(commands: unknown[][]): Pipeline;
  defineCommand(name: string, definition: { lua: string }): void;
  duplicate(override?: Record<string, unknown>): IoredisLike;
  subscribe(...channels: string[]): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  disconnect(reconnect?: boolean): void;
}

const FEW = 8;
const RECONNECT_STEP_MS = 50;
const RECONNECT_LONGEST_MS = 1_000;

/** For the subscriber: reconnects for as long as it lives, and leaves subscribing anew to us. */
const SUBSCRIBER_OPTIONS = {
  autoResubscribe: false,
  commandTimeout: undefined,
  autoResendUnfulfilledCommands: false,
  lazyConnect: false,
  maxRetriesPerRequest: null,
  retryStrategy: (attempt: number) => Math.min(attempt * RECONNECT_STEP_MS, RECONNECT_LONGEST_MS),
};

export function ioredisClient(client: IoredisLike, lastError: () => Error | null = () => null): RedisClient {
  const disruptions = new Disruptions((tell) => {
    client.on("close", tell);
    return () => void client.off("close", tell);
  });
  return {
    library: "ioredis",
    send(commands) {
      // A pipeline answers all at once; a few calls are cheaper, and their callers go on one by one.
      if (commands.length > FEW) return sendPipeline(client, commands);
      return commands.map((command) => client.call(...(command as [string, ...string[]])));
    },
    subscribe: (channel, inbound) => subscribe(client.duplicate(SUBSCRIBER_OPTIONS), channel, inbound),
    onDisruption: (listener) => disruptions.add(listener),
    trouble() {
      if (client.status === undefined || client.status === "ready") return null;
      return { text: `ioredis is not connected (${client.status})`, cause: lastError() };
    },
    close: () => client.disconnect(),
  };
}

function sendPipeline(client: IoredisLike, commands: readonly (readonly string[])[]): Promise<unknown>[] {
  const replies = client.pipeline(commands.map((command) => ["call", ...command])).exec();
  return commands.map(async (_, place) => {
    const outcome = (await replies)?.[place];
    if (!outcome) throw new Error("the pipeline ended without a reply");
    if (outcome[0]) throw outcome[0];
    return outcome[1];
  });
}

function subscribe(connection: IoredisLike, channel: string, inbound: Inbound): ClientSubscription {
  connection.on("error", () => {}); // its reconnects go on; the loss is reported by "close"
  connection.on("close", () => inbound.down(null));
  connection.on("message", (_channel: string, text: string) => inbound.message(text));
  connection.on("ready", () => {
    connection.subscribe(channel).then(
      () => inbound.up(),
      (error: Error) => inbound.down(error),
    );
  });
  return {
    ping: () => connection.subscribe(channel),
    close: () => connection.disconnect(),
  };
}
