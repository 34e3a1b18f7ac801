/** Opens a client for a URL, and sees to it that its errors are heard. */
import { InvalidArgumentError } from "../../errors.js";
import type { RedisClient } from "../client.js";
import type { endGlide, GlideLike, GlideMaker, glideClient } from "./glide.js";
import type { IoredisLike, ioredisClient } from "./ioredis.js";
import type { endOf, NodeRedisLike, nodeRedisClient } from "./node-redis.js";

export type Library = "ioredis" | "redis" | "iovalkey" | "@valkey/valkey-glide";

/** Of each adapter, what is needed here: it is loaded beside this, and not with it. */
interface IoredisCode {
  readonly ioredisClient: typeof ioredisClient;
}
interface NodeRedisCode {
  readonly nodeRedisClient: typeof nodeRedisClient;
  readonly endOf: typeof endOf;
}
interface GlideCode {
  readonly glideClient: typeof glideClient;
  readonly endGlide: typeof endGlide;
}

const OPENERS: Readonly<Record<Library, (library: never, url: string, code: never) => RedisClient>> = {
  ioredis: openIoredis,
  redis: openNodeRedis,
  iovalkey: openIoredis,
  "@valkey/valkey-glide": openGlide,
};

/** @throws {InvalidArgumentError} where the library does not take the URL */
export function open(name: Library, library: never, url: string, code: never): RedisClient {
  try {
    return OPENERS[name](library, url, code);
  } catch (error) {
    throw new InvalidArgumentError("url", `is refused by ${name} (${(error as Error).message})`);
  }
}

function openIoredis(
  library: { Redis: new (url: string) => IoredisLike },
  url: string,
  code: IoredisCode,
): RedisClient {
  const client = new library.Redis(url);
  return code.ioredisClient(client, rememberError(client));
}

function openNodeRedis(
  library: { createClient(o: { url: string }): NodeRedisLike },
  url: string,
  code: NodeRedisCode,
): RedisClient {
  const client = library.createClient({ url });
  const lastError = rememberError(client);
  client.connect().catch(() => {}); // it goes on trying; calls meanwhile wait in its queue
  return { ...code.nodeRedisClient(client, lastError), close: code.endOf(client) };
}

/** GLIDE's client exists only once it is connected: each call tries again, unless one is trying already. */
function openGlide(library: { GlideClient: GlideMaker }, url: string, code: GlideCode): RedisClient {
  const maker = library.GlideClient;
  const config = glideConfig(new URL(url));
  let connecting: Promise<GlideLike> | null = null;
  const connected = (): Promise<GlideLike> => {
    connecting ??= maker.createClient(config).catch((error: unknown) => {
      connecting = null;
      throw error;
    });
    return connecting;
  };
  return code.glideClient({
    constructor: maker,
    config,
    customCommand: async (args, options) => (await connected()).customCommand(args, options),
    close() {
      connecting?.then(code.endGlide, () => {});
    },
  });
}

/** Each call has its own limit: GLIDE's only has to be longer. */
const GLIDE_REQUEST_MS = 10_000;
/** Waits 50, 100 and 200 ms before a call fails that has no connection; later, 400 ms between two tries. */
const GLIDE_BACKOFF = { numberOfRetries: 3, factor: 50, exponentBase: 2 };

function glideConfig({
  hostname,
  port,
  username,
  password,
  pathname,
  protocol,
}: URL): Readonly<Record<string, unknown>> {
  const user = username ? { username: decodeURIComponent(username) } : {};
  return {
    addresses: [{ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 6379 }],
    useTLS: protocol === "rediss:",
    databaseId: Number(pathname.slice(1)) || 0,
    requestTimeout: GLIDE_REQUEST_MS,
    connectionBackoff: GLIDE_BACKOFF,
    ...(password && { credentials: { ...user, password: decodeURIComponent(password) } }),
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
