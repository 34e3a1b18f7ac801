/**
 * node-redis 4, 5 and 6 (npm `redis`), standalone or behind Sentinel's own proxy.
 *
 * It never sends a command again, and batches the commands of one tick by itself. Its `timeout` option does not
 * reject a command that was already written, so the port counts the time-out of each call.
 */
import { errorMonitor } from "node:events";
import { type ClientMessages, oneServer, type RedisClient } from "../client.js";
import type { MessageListener, Topic } from "../port.js";
import { BrokenTurn } from "./broken-turn.js";
import { SharedListener } from "./shared-listener.js";

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
  on(event: string | symbol, listener: (...args: never[]) => void): unknown;
  off(event: string | symbol, listener: (...args: never[]) => void): unknown;
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
 * the throughput.
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

export function nodeRedisClient(client: NodeRedisLike): RedisClient {
  let lastError: Error | null = null;
  const brokenTurn = isVersion5(client) ? new BrokenTurn() : null;
  const disruptions = new SharedListener((tell) => {
    const broken = (): void => {
      brokenTurn?.begin();
      tell();
    };
    return onBreak(client, broken, (error) => {
      lastError = error;
    });
  });
  // A client that gives up tells of an error only.
  const ends = new SharedListener((tell) => {
    for (const event of ["end", errorMonitor]) client.on(event, tell);
    return () => {
      for (const event of ["end", errorMonitor]) client.off(event, tell);
    };
  });
  let wasOpen = client.isOpen;
  const sender = (client.options?.legacyMode && client.v4) || client;
  return {
    ...oneServer,
    library: "node-redis",
    address: addressOf(client.options?.socket),
    send: (commands) =>
      commands.map((command) =>
        brokenTurn
          ? brokenTurn.send((more) => sender.sendCommand(command, { ...PLAIN_REPLIES_UNTIMED, ...more }))
          : sender.sendCommand(command, PLAIN_REPLIES_UNTIMED),
      ),
    openMessages: (listener) => openMessages(subscriberOf(client), listener),
    onDisruption: (listener) => disruptions.add(listener),
    onEnd: (listener) => ends.add(listener),
    trouble() {
      wasOpen ||= client.isOpen;
      // Version 4 stays ready where it is closed in the turn in which it connects.
      if (client.isReady !== false && client.isOpen !== false) return null;
      const cause = lastError;
      if (client.isOpen) return { text: "node-redis is not connected", cause, rejects: false };
      if (wasOpen) return { text: "the node-redis client is closed", cause, rejects: true };
      const remedy = "await client.connect() before the first call";
      return { text: "nobody has connected the node-redis client", cause, rejects: true, remedy };
    },
    close() {}, // the user closes it; the opener closes one that holdfast has opened
  };
}

/** Version 4 cannot be destroyed, and version 6 knows CLIENT UNBLOCK. */
function isVersion5(client: NodeRedisLike): boolean {
  return client.destroy !== undefined && !("clientUnblock" in client);
}

function addressOf(socket: object | undefined): string | null {
  const { host, port } = (socket ?? {}) as { readonly host?: unknown; readonly port?: unknown };
  return typeof host === "string" ? `${host}:${port}` : null;
}

/**
 * A client that does not reconnect by itself says nothing of a break, but its user may connect it again. Its errors are read without
 * a listener for them: a client whose user listens to none must end the process.
 */
function onBreak(
  client: NodeRedisLike,
  tell: () => void,
  remember: (error: Error | null) => void,
): () => void {
  let wasReady = client.isReady !== false;
  const listeners: readonly (readonly [event: string | symbol, listener: (error: Error) => void])[] = [
    [errorMonitor, remember],
    [
      "reconnecting",
      () => {
        wasReady = false;
        tell();
      },
    ],
    [
      "connect",
      () => {
        if (wasReady) tell();
      },
    ],
    [
      "ready",
      () => {
        wasReady = true;
        remember(null);
      },
    ],
  ];
  for (const [event, listener] of listeners) client.on(event, listener);
  return () => {
    for (const [event, listener] of listeners) client.off(event, listener);
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
  const hears = new WeakMap<Topic, Hear>();
  const hearOf = (topic: Topic): Hear => {
    const hear = hears.get(topic) ?? ((text, channel) => listener.message(topic, text, channel));
    hears.set(topic, hear);
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
    // Version 4 forgets what it waits for at once, and then trips over replies behind the message that it is just telling.
    else process.nextTick(() => void connection.disconnect?.().catch(() => {})); // it was closed meanwhile
  };
  const when = (event: string, isConnecting: boolean): void => {
    connection.on(event, () => {
      connecting = false;
      end();
      connecting = isConnecting;
    });
  };
  // Not only at "ready": a server may take the connection and never answer.
  when("connect", false);
  when("error", false);
  when("reconnecting", true); // at the next step, unless it ends now
  return () => {
    over = true;
    end();
  };
}
