/**
 * valkey-glide 2.5 (npm `@valkey/valkey-glide`), standalone.
 *
 * Its own time-out, `requestTimeout`, ends calls as unknown, and it never sends a call again. It has no
 * `duplicate()`, so messages come through a second client, made with the configuration of the first. It
 * rewrites the errors of the server. It takes a bounded number of requests at a time; further requests wait here.
 *
 * A client of 2.5 can subscribe and unsubscribe at any time, so one client carries all topics.
 */
import { ClientOverloadedError, ServerError } from "../../errors.js";
import { type ClientMessages, oneServer, type RedisClient } from "../client.js";
import type { MessageListener, Topic } from "../port.js";

type Config = Readonly<Record<string, unknown>>;

/** The part of a GLIDE client that holdfast uses. */
export interface GlideLike {
  /** Its class, which makes the one that listens. */
  readonly constructor: GlideMaker;
  /** The argument of `createClient`. */
  readonly config: Config;
  readonly inflightRequestsLimit?: number;
  readonly isClosed?: boolean;
  /** Only a client of our own, which exists before GLIDE's is connected. */
  readonly isConnecting?: boolean;
  /** Only of our own: why it could not connect last. */
  readonly lastError?: Error | null;
  readonly socket?: { destroy(): void };
  customCommand(args: readonly string[], options?: { decoder: number }): Promise<unknown>;
  close(): void;
}

interface GlideMessage {
  readonly message: unknown;
  readonly channel: unknown;
  readonly pattern?: unknown;
}

interface Subscriber extends GlideLike {
  subscribe(channels: readonly string[], timeoutMs: number): Promise<unknown>;
  psubscribe(patterns: readonly string[], timeoutMs: number): Promise<unknown>;
  /** Null: all. */
  unsubscribe(channels: readonly string[] | null, timeoutMs: number): Promise<unknown>;
  punsubscribe(patterns: readonly string[] | null, timeoutMs: number): Promise<unknown>;
  getSubscriptions(): Promise<{
    readonly actualSubscriptions: Readonly<Record<number, ReadonlySet<unknown> | undefined>>;
  }>;
  notificationToPubSubMessageSafe?(...args: unknown[]): unknown;
}

/** Ends a client of our own. GLIDE would keep the process alive until its last call has timed out. */
export function endGlide(client: Pick<GlideLike, "close" | "socket">): void {
  client.close();
  client.socket?.destroy();
}

export interface GlideMaker {
  createClient(config: Config): Promise<Subscriber>;
}

/** GLIDE's numbers for replies of bytes and of text, and for RESP3, which its subscriptions need. */
const BYTES = 0;
const TEXT = 1;
const RESP3 = 0;
/** GLIDE's numbers for what is subscribed to. */
const MODES = { channel: 0, pattern: 1 } as const;
const TEXT_REPLIES = { decoder: TEXT };
const DEFAULT_INFLIGHT = 1_000;
/** The share of GLIDE's requests in flight that holdfast uses; the rest is for the user's own calls. */
const OUR_SHARE = 0.8;
const SUBSCRIBE_TIMEOUT_MS = 500;
/** One try may be lost to a connection that breaks, or to a server that is stalled. */
const SUBSCRIBE_TRIES = 2;

export function glideClient(client: GlideLike): RedisClient {
  const { config, constructor: maker } = client;
  // A lazy client connects with its first command, and does not say when it has.
  let isConnecting = config.lazyConnect === true;
  const send = sender(client, () => {
    isConnecting = false;
  });
  return {
    ...oneServer,
    library: "valkey-glide",
    address: addressOf(config),
    send: (commands) => commands.map((command) => send(command)),
    openMessages: (listener) => openMessages(config, maker, listener),
    reportsBreaks: false,
    connectsOnUse: true,
    // A break needs no report for the sake of repeated calls: GLIDE rejects the calls under way, and does not send them again.
    onDisruption: () => () => {},
    trouble() {
      if (client.isClosed) return { text: "the valkey-glide client is closed", cause: null, rejects: true };
      if (!(client.isConnecting ?? isConnecting)) return null;
      return { text: "valkey-glide is not connected", cause: client.lastError ?? null, rejects: false };
    },
    close: () => client.close(),
  };
}

function addressOf({ addresses }: Config): string | null {
  const [first, ...others] = Array.isArray(addresses) ? addresses : [];
  return typeof first?.host === "string" && others.length === 0
    ? `${first.host}:${first.port ?? 6379}`
    : null;
}

/** Sends calls in their order, with no more in flight than GLIDE takes. */
function sender(client: GlideLike, answered: () => void): (command: readonly string[]) => Promise<unknown> {
  const window = Math.max(1, Math.floor((client.inflightRequestsLimit ?? DEFAULT_INFLIGHT) * OUR_SHARE));
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  return async (command) => {
    if (inFlight < window) inFlight += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // takes over the place of one that is done
    try {
      const reply = await client.customCommand(command, TEXT_REPLIES);
      answered();
      return flat(reply);
    } catch (error) {
      const told = translated(error);
      if (told instanceof ServerError) answered();
      throw told;
    } finally {
      const next = waiting.shift();
      if (next) next();
      else inFlight -= 1;
    }
  };
}

/** GLIDE makes an object of each pair of a map of RESP3, as of PUBSUB NUMSUB and of scores. */
function flat(reply: unknown): unknown {
  if (!Array.isArray(reply) || typeof reply[0]?.key !== "string") return reply;
  return reply.flatMap(({ key, value }) => [key, value]);
}

const SIGNALLED = /^An error was signalled by the server: - (\w+): (.*)$/s;
const OTHER_REPLY = /^([A-Z][A-Z0-9_]*): (.*)$/s;
/** The codes that GLIDE replaces by names of its own. It writes other codes in another case only. */
const CODES: Readonly<Record<string, string>> = {
  ResponseError: "ERR",
  ExecAbortError: "EXECABORT",
  BusyLoadingError: "LOADING",
  NoScriptError: "NOSCRIPT",
  PermissionDenied: "NOPERM",
};

function translated(error: unknown): unknown {
  // A broken connection and a time-out have error names of their own.
  if (!(error instanceof Error) || error.name !== "RequestError") return error;
  const [, kind, text] = SIGNALLED.exec(error.message) ?? OTHER_REPLY.exec(error.message) ?? [];
  if (kind) return new ServerError(`${CODES[kind] ?? kind.toUpperCase()} ${text}`, { cause: error });
  if (!error.message.includes("maximum inflight requests")) return error;
  return new ClientOverloadedError(
    "the valkey-glide client has as many requests in flight as it takes: " +
      "raise its inflightRequestsLimit, or give holdfast a client of its own",
    { cause: error },
  );
}

function openMessages(config: Config, maker: GlideMaker, listener: MessageListener): ClientMessages {
  const opened = openSubscriber(config, maker, listener);
  const id = opened.then(idOf);
  id.catch(() => {}); // the listener hears of a client that could not be made
  /** The confirmation of our own request has not come. */
  let isOwed = false;
  /** GLIDE sends all that it does not have yet in one SUBSCRIBE, which the server refuses as a whole: one at a time. */
  let turn: Promise<unknown> = Promise.resolve();
  opened.then(
    (made) => {
      onConfirmed(made, () => {
        // After a break GLIDE subscribes again, and says so by nothing else.
        if (!isOwed) listener.outdated();
        isOwed = false;
      });
      listener.connected();
    },
    (error: Error) => listener.disconnected(error),
  );
  const inTurn = (change: (connection: Subscriber) => Promise<void>): Promise<void> => {
    const done = turn.then(async () => {
      const connection = await opened;
      isOwed = true;
      try {
        await change(connection);
      } catch (error) {
        isOwed = false; // what failed was not confirmed
        throw error;
      }
    });
    turn = done.catch(() => {});
    return done;
  };
  const isOutdated = async (): Promise<boolean> => (await idOf(await opened)) !== (await id);
  return {
    subscribe: (topic) => inTurn((connection) => confirm(connection, topic)),
    async unsubscribe(topic) {
      await inTurn((connection) => leave(connection, topic));
      // Where it broke meanwhile, the confirmation of another topic may have passed for that of the end of this one.
      void isOutdated().then(
        (outdated) => outdated && listener.outdated(),
        () => {},
      );
    },
    async ping() {
      if (await isOutdated()) throw new Error("GLIDE has made another connection");
    },
    close: () => void opened.then(leaveAll).then(endGlide, () => {}),
  };
}

/** The number that the server gave to the connection. A server that refuses to tell gives every connection the same. */
async function idOf(connection: Subscriber): Promise<unknown> {
  try {
    return await connection.customCommand(["CLIENT", "ID"]);
  } catch (error) {
    if (translated(error) instanceof ServerError) return null;
    throw error;
  }
}

function openSubscriber(config: Config, maker: GlideMaker, listener: MessageListener): Promise<Subscriber> {
  const callback = ({ message, channel, pattern }: GlideMessage): void => {
    const name = String(pattern ?? channel);
    const kind = pattern === null || pattern === undefined ? "channel" : "pattern";
    listener.message({ kind, name }, String(message), String(channel));
  };
  return maker.createClient({
    ...config,
    protocol: RESP3,
    // As text, GLIDE throws in nobody's call for a message that is none, and Node ends the process.
    defaultDecoder: BYTES,
    lazyConnect: false,
    pubsubSubscriptions: { channelsAndPatterns: {}, callback },
  });
}

async function confirm(connection: Subscriber, topic: Topic): Promise<void> {
  const { kind, name } = topic;
  for (let tries = 1; ; tries++) {
    try {
      if (kind === "pattern") await connection.psubscribe([name], SUBSCRIBE_TIMEOUT_MS);
      else await connection.subscribe([name], SUBSCRIBE_TIMEOUT_MS);
      return;
    } catch (error) {
      // GLIDE reports no refusal, and tries again. When the server answers a PING but never confirms, it refuses.
      await connection.customCommand(["PING"]);
      // On a busy machine the time-out may come before the confirmation, but the PING came behind both.
      if (await isSubscribed(connection, topic)) return;
      if (tries < SUBSCRIBE_TRIES) continue;
      await leave(connection, topic).catch(() => {}); // or GLIDE would try for ever
      throw new ServerError(`NOPERM the server did not let this user subscribe to '${name}'`, {
        cause: error,
      });
    }
  }
}

async function isSubscribed(connection: Subscriber, { kind, name }: Topic): Promise<boolean> {
  const { actualSubscriptions } = await connection.getSubscriptions();
  return actualSubscriptions[MODES[kind]]?.has(name) ?? false;
}

async function leave(connection: Subscriber, { kind, name }: Topic): Promise<void> {
  if (kind === "pattern") await connection.punsubscribe([name], SUBSCRIBE_TIMEOUT_MS);
  else await connection.unsubscribe([name], SUBSCRIBE_TIMEOUT_MS);
}

/** GLIDE keeps the connection of a closed client for seconds. Without this, the server would count it as a listener until then. */
async function leaveAll(connection: Subscriber): Promise<Subscriber> {
  await Promise.allSettled([
    connection.unsubscribe(null, SUBSCRIBE_TIMEOUT_MS),
    connection.punsubscribe(null, SUBSCRIBE_TIMEOUT_MS),
  ]);
  return connection;
}

/** GLIDE reads the confirmation of a subscription, and of its end, as a notification without a message. */
function onConfirmed(connection: Subscriber, tell: () => void): void {
  const { notificationToPubSubMessageSafe: read } = connection;
  if (!read) return; // a message that was lost is found out by the next sign of life
  connection.notificationToPubSubMessageSafe = (...args) => {
    const message = read.apply(connection, args);
    if (message === null) tell();
    return message;
  };
}
