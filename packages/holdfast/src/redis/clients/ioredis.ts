/**
 * ioredis 5 and 6, and iovalkey, which comes from ioredis 5: standalone or behind Sentinel.
 *
 * By default they send a command again when the connection broke before its reply, which is harmless here: scripts may be
 * repeated, and each call has its own time-out.
 */
import { type ClientMessages, oneServer, type RedisClient } from "../client.js";
import type { MessageListener, Topic } from "../port.js";
import { SharedListener } from "./shared-listener.js";

interface Pipeline {
  exec(): Promise<[error: Error | null, reply: unknown][] | null>;
}

/** The part of an ioredis client that holdfast uses. */
export interface IoredisLike {
  readonly status?: string;
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /** Remembers why it could not connect, also where nobody listens to errors. */
  readonly connector?: { readonly firstError?: unknown };
  call(command: string, ...args: string[]): Promise<unknown>;
  pipeline(commands: unknown[][]): Pipeline;
  defineCommand(name: string, definition: { lua: string }): void;
  duplicate(override?: Record<string, unknown>): IoredisLike;
  subscribe(channel: string): Promise<unknown>;
  psubscribe(pattern: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  punsubscribe(pattern: string): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  disconnect(reconnect?: boolean): void;
}

const FEW = 8;
const RECONNECT_STEP_MS = 50;
const RECONNECT_LONGEST_MS = 1_000;

/** The connection for messages reconnects for as long as it lives. The subscriber repeats its subscriptions. */
const SUBSCRIBER_OPTIONS = {
  autoResubscribe: false,
  commandTimeout: undefined,
  autoResendUnfulfilledCommands: false,
  lazyConnect: false,
  maxRetriesPerRequest: null,
  retryStrategy: (attempt: number) => Math.min(attempt * RECONNECT_STEP_MS, RECONNECT_LONGEST_MS),
};

export function ioredisClient(client: IoredisLike, lastError: () => Error | null = () => null): RedisClient {
  const disruptions = new SharedListener((tell) => {
    client.on("close", tell);
    return () => void client.off("close", tell);
  });
  const ends = new SharedListener((tell) => {
    client.on("end", tell);
    return () => void client.off("end", tell);
  });
  let oldError: unknown;
  const errorOfConnect = (): Error | null => {
    const error = client.connector?.firstError;
    return error instanceof Error && error !== oldError ? error : null;
  };
  // iovalkey writes `keyPrefix` before the keys of commands in small letters only.
  const spelled = client.options?.keyPrefix ? inSmallLetters : asItIs;
  return {
    ...oneServer,
    library: "ioredis",
    address: addressOf(client.options),
    send(given) {
      const commands = spelled(given);
      // A pipeline resolves when its last reply is there. A few single calls cost less, and each resolves by itself.
      if (commands.length > FEW) return sendPipeline(client, commands);
      return commands.map((command) => client.call(...(command as [string, ...string[]])));
    },
    openMessages: (listener) => openMessages(client.duplicate(SUBSCRIBER_OPTIONS), listener),
    onDisruption: (listener) => disruptions.add(listener),
    onEnd: (listener) => ends.add(listener),
    trouble() {
      const { status } = client;
      if (status === undefined || status === "ready") {
        oldError = client.connector?.firstError;
        return null;
      }
      const rejects = status === "end";
      const text = rejects ? "the ioredis client is closed" : `ioredis is not connected: ${status}`;
      return { text, cause: lastError() ?? errorOfConnect(), rejects };
    },
    close: () => client.disconnect(),
  };
}

type Commands = readonly (readonly string[])[];

function asItIs(commands: Commands): Commands {
  return commands;
}

function inSmallLetters(commands: Commands): Commands {
  return commands.map(([name = "", ...args]) => [name.toLowerCase(), ...args]);
}

function addressOf(options: IoredisLike["options"]): string | null {
  const { host, port, path, sentinels } = options ?? {};
  if (path || sentinels || typeof host !== "string") return null;
  return `${host}:${port}`;
}

function sendPipeline(client: IoredisLike, commands: Commands): Promise<unknown>[] {
  const replies = client.pipeline(commands.map((command) => ["call", ...command])).exec();
  return commands.map(async (_, place) => {
    const outcome = (await replies)?.[place];
    if (!outcome) throw new Error("the pipeline ended without a reply");
    if (outcome[0]) throw outcome[0];
    return outcome[1];
  });
}

function openMessages(connection: IoredisLike, listener: MessageListener): ClientMessages {
  connection.on("error", () => {}); // ioredis reconnects, and reports the loss by "close"
  connection.on("close", () => listener.disconnected(null));
  connection.on("ready", () => listener.connected());
  connection.on("message", (channel: string, text: string) =>
    listener.message({ kind: "channel", name: channel }, text, channel),
  );
  connection.on("pmessage", (pattern: string, channel: string, text: string) =>
    listener.message({ kind: "pattern", name: pattern }, text, channel),
  );
  const subscribe = ({ kind, name }: Topic): Promise<unknown> =>
    kind === "pattern" ? connection.psubscribe(name) : connection.subscribe(name);
  return {
    subscribe,
    unsubscribe: ({ kind, name }) =>
      kind === "pattern" ? connection.punsubscribe(name) : connection.unsubscribe(name),
    // ioredis sends no PING on this connection.
    ping: async (topic) => topic && subscribe(topic),
    close: () => connection.disconnect(),
  };
}
