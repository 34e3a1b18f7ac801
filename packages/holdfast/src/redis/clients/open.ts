/** Opens a client for the address of a URL, listens to its errors, and lets no command run in a wrong database. */
import type { RedisClient } from "../client.js";
import type { RedisAddress } from "./address.js";
import { endGlide, type GlideLike, type GlideMaker, glideClient } from "./glide.js";
import { type IoredisLike, ioredisClient } from "./ioredis.js";
import { ioredisMockRefused } from "./ioredis-mock.js";
import { endOf, type NodeRedisLike, nodeRedisClient } from "./node-redis.js";
import { sendOnceSelected } from "./selected.js";
import { SharedListener } from "./shared-listener.js";

export type Library = "ioredis" | "redis" | "iovalkey" | "@valkey/valkey-glide";

const OPENERS: Readonly<Record<Library, (library: never, address: RedisAddress) => RedisClient>> = {
  ioredis: openIoredis,
  redis: openNodeRedis,
  iovalkey: openIoredis,
  "@valkey/valkey-glide": openGlide,
};

/** No library takes a connection back that it is just making, so a renewed client is another one. */
export function open(name: Library, library: never, address: RedisAddress): RedisClient {
  const make = (): RedisClient => OPENERS[name](library, address);
  let client = make();
  let renewed = (): void => {};
  const disruptions = new SharedListener((tell) => {
    let stop = client.onDisruption(tell);
    renewed = () => {
      stop();
      stop = client.onDisruption(tell);
      tell();
    };
    return () => stop();
  });
  return {
    ...client,
    send: (commands) => client.send(commands),
    openMessages: (listener) => client.openMessages(listener),
    onDisruption: (listener) => disruptions.add(listener),
    trouble: () => client.trouble(),
    close: () => client.close(),
    renew() {
      client.close();
      client = make();
      renewed();
    },
  };
}

function openIoredis(
  library: { Redis?: new (options: Record<string, unknown>) => IoredisLike },
  { host, port, username, password, database, tls }: RedisAddress,
): RedisClient {
  // A test runner has put ioredis-mock in place of ioredis: it exports no such name.
  if (library.Redis === undefined) throw ioredisMockRefused();
  const client = new library.Redis({
    host,
    port,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(tls && { tls: {} }),
    db: database,
  });
  const opened = ioredisClient(client, rememberError(client));
  if (database === 0) return opened;
  return sendOnceSelected(opened, {
    on: (event, listener) => client.on(event, listener),
    isReady: () => client.status === "ready",
    reconnect: () => client.disconnect(true),
  });
}

function openNodeRedis(
  library: { createClient(options: Record<string, unknown>): NodeRedisLike },
  { host, port, username, password, database, tls }: RedisAddress,
): RedisClient {
  const client = library.createClient({
    socket: { host, port, tls },
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    database,
    // A command that waits while the connection breaks would be sent behind the next SELECT.
    disableOfflineQueue: database !== 0,
  });
  client.on("error", () => {}); // it must not end the process: the calls tell of it
  const opened = { ...nodeRedisClient(client), close: endOf(client) };
  const selected = {
    on: client.on.bind(client),
    isReady: () => client.isReady === true,
    reconnect() {}, // it does
  };
  client.connect().catch(() => {}); // it goes on trying; calls meanwhile wait
  return database === 0 ? opened : sendOnceSelected(opened, selected);
}

/** GLIDE's client exists only once it is connected: each call tries again, unless one is trying already. */
function openGlide(library: { GlideClient: GlideMaker }, address: RedisAddress): RedisClient {
  const maker = library.GlideClient;
  const config = glideConfig(address);
  let isConnected = false;
  let lastError: Error | null = null;
  const connect = async (): Promise<GlideLike> => {
    if (address.database !== 0) await trySelect(maker, address);
    const client = await maker.createClient(config);
    isConnected = true;
    return client;
  };
  let connecting: Promise<GlideLike> | null = null;
  const connected = (): Promise<GlideLike> => {
    connecting ??= connect().catch((error: unknown) => {
      connecting = null;
      if (error instanceof Error) lastError = error;
      throw error;
    });
    return connecting;
  };
  const end = (): void => void connecting?.then(endGlide, () => {});
  return glideClient({
    constructor: maker,
    config,
    get isConnecting() {
      return !isConnected;
    },
    get lastError() {
      return lastError;
    },
    customCommand: async (args, options) => (await connected()).customCommand(args, options),
    close: end,
  });
}

/** GLIDE does not connect where its database is refused, but says that it timed out: here the server says why. */
async function trySelect(maker: GlideMaker, address: RedisAddress): Promise<void> {
  const client = await maker.createClient(glideConfig({ ...address, database: 0 }));
  try {
    await client.customCommand(["SELECT", String(address.database)]);
  } finally {
    endGlide(client);
  }
}

/** Each call has its own limit: GLIDE's only has to be longer. */
const GLIDE_REQUEST_MS = 10_000;
/** Waits 50, 100 and 200 ms before a call fails that has no connection; later, 400 ms between two tries. */
const GLIDE_BACKOFF = { numberOfRetries: 3, factor: 50, exponentBase: 2 };

function glideConfig({
  host,
  port,
  username,
  password,
  database,
  tls,
}: RedisAddress): Readonly<Record<string, unknown>> {
  const user = username === null ? {} : { username };
  return {
    addresses: [{ host, port }],
    useTLS: tls,
    databaseId: database,
    requestTimeout: GLIDE_REQUEST_MS,
    connectionBackoff: GLIDE_BACKOFF,
    ...(password !== null && { credentials: { ...user, password } }),
  };
}

/** A client of ours must not end the process by an error that nobody hears; the calls tell of it. */
function rememberError(client: Pick<IoredisLike, "on">): () => Error | null {
  let last: Error | null = null;
  client.on("error", (error: Error) => {
    last = error;
  });
  client.on("ready", () => {
    last = null;
  });
  return () => last;
}
