/**
 * node-redis 4, 5 and 6 (npm `redis`), standalone or behind Sentinel's own proxy.
 *
 * It never sends a command again, and batches the commands of one tick by itself. Its `timeout` option does not
 * reject a command that was already written, so the port counts the time-out of each call.
 */
import { type ClientMessages, oneServer, type RedisClient } from "../client.js";
import type { MessageListener, Topic } from "../port.js";
import { Disruptions } from "./disruptions.js";

type Send = (args: readonly string[], options?: Readonly<Record<string, unknown>>) => Promise<unknown>;

type Hear = (message: string, channel: string) => void;

/** The part of a node-redis client that holdfast uses. */
export interface NodeRedisLike {
  readonly isOpen: boolean;
  readonly isReady?: boolean;
  readonly options?: { readonly socket?: object; readonly legacyMode?: boolean } | undefined;
  /** Only in the legacy mode of version 4: the same commands with promises. */
  readonly v4?: { readonly sendCommand: Send };
  sendCommand: Send;
  evalSha(sha1: string, options?: { keys?: string[]; arguments?: string[] }): Promise<unknown>;
  duplicate(overrides?: Record<string, unknown>): NodeRedisLike;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: Hear): Promise<unknown>;
  pSubscribe(pattern: string, listener: Hear): Promise<unknown>;
  unsubscribe(channel: string, listener: Hear): Promise<unknown>;
  pUnsubscribe(pattern: string, listener: Hear): Promise<unknown>;
  ping(): Promise<unknown>;
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  /** Since version 5. */
  destroy?(): void;
  /** Before version 5. */
  disconnect?(): Promise<unknown>;
}

const RECONNECT_STEP_MS = 50;
const RECONNECT_LONGEST_MS = 1_000;

/** Replies to holdfast are text and numbers, whatever type mapping the user has. */
const PLAIN_REPLIES = { typeMapping: {} };
/**
 * Version 6 gives each command a timer of 5 s (`commandOptions.timeout`), which lives on when the reply is there. It ends
 * commands that are not yet written, and a client that is ready writes at once: the timers would only cost two thirds of
 * the throughput. While the client is not ready, they keep its queue short.
 */
const PLAIN_REPLIES_UNTIMED = { ...PLAIN_REPLIES, timeout: undefined };

/** The connection for messages reconnects for as long as it lives, and may be silent for as long. */
function subscriberOf(client: NodeRedisLike): NodeRedisLike {
  const reconnectStrategy = (attempt: number): number =>
    Math.min((attempt + 1) * RECONNECT_STEP_MS, RECONNECT_LONGEST_MS);
  return client.duplicate({
    socket: { ...client.options?.socket, reconnectStrategy, socketTimeout: undefined },
    commandOptions: PLAIN_REPLIES,
    clientSideCache: undefined,
    legacyMode: false,
  });
}

export function nodeRedisClient(
  client: NodeRedisLike,
  lastError: () => Error | null = () => null,
): RedisClient {
  const disruptions = new Disruptions((tell) => {
    client.on("reconnecting", tell);
    return () => void client.off("reconnecting", tell);
  });
  const sender = (client.options?.legacyMode && client.v4) || client;
  return {
    ...oneServer,
    library: "node-redis",
    send(commands) {
      const options = client.isReady ? PLAIN_REPLIES_UNTIMED : PLAIN_REPLIES;
      return commands.map((command) => sender.sendCommand(command, options));
    },
    openMessages: (listener) => openMessages(subscriberOf(client), listener),
    onDisruption: (listener) => disruptions.add(listener),
    trouble() {
      if (client.isReady !== false) return null;
      const text = client.isOpen
        ? "node-redis is not connected"
        : "node-redis is closed: call connect() first";
      return { text, cause: lastError() };
    },
    close() {}, // the user closes it; the opener closes one that holdfast has opened
  };
}

function openMessages(connection: NodeRedisLike, listener: MessageListener): ClientMessages {
  let wasConnected = false;
  connection.on("error", () => listener.disconnected(null));
  connection.on("reconnecting", () => listener.disconnected(null));
  // After a reconnect the client has subscribed again by itself before it says "ready".
  connection.on("ready", () => {
    if (wasConnected) listener.connected();
  });
  const connected = connection.connect();
  const end = endOf(connection);
  connected.then(
    () => {
      wasConnected = true;
      listener.connected();
    },
    (error: Error) => listener.disconnected(error),
  );
  /** The client tells listeners apart by identity, and calls one that it has twice only once. */
  const hears = new Map<string, Hear>();
  const hearOf = (topic: Topic): Hear => {
    const key = `${topic.kind} ${topic.name}`;
    const hear = hears.get(key) ?? ((text, channel) => listener.message(topic, text, channel));
    hears.set(key, hear);
    return hear;
  };
  return {
    subscribe: (topic) =>
      topic.kind === "pattern"
        ? connection.pSubscribe(topic.name, hearOf(topic))
        : connection.subscribe(topic.name, hearOf(topic)),
    unsubscribe: (topic) =>
      topic.kind === "pattern"
        ? connection.pUnsubscribe(topic.name, hearOf(topic))
        : connection.unsubscribe(topic.name, hearOf(topic)),
    ping: () => connection.ping(),
    close: end,
  };
}

/**
 * How a connection ends whose `connect()` was just called. In every version, a socket that is being connected
 * when its client is ended is connected all the same, and stays: that end has to wait.
 */
export function endOf(connection: NodeRedisLike): () => void {
  let connecting = true;
  let over = false;
  const end = (): void => {
    if (!over || connecting || !connection.isOpen) return;
    if (connection.destroy) connection.destroy();
    else void connection.disconnect?.().catch(() => {}); // it was closed meanwhile
  };
  const when = (event: string, isConnecting: boolean): void => {
    connection.on(event, () => {
      connecting = false;
      end();
      connecting = isConnecting;
    });
  };
  // Version 4 trips over an end between "connect" and "ready".
  when(connection.destroy ? "connect" : "ready", false);
  when("error", false);
  when("reconnecting", true); // at the next step, unless it ends now
  return () => {
    over = true;
    end();
  };
}
