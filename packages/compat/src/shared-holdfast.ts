/**
 * The Holdfast behind the modules of this package: one for each client and prefix, made at first use. The originals
 * take a bare client wherever a lock is made, so the client is the key.
 */
import {
  type Clock,
  Holdfast,
  type HoldfastOptions,
  InvalidArgumentError,
  type RedisClientLike,
  systemClock,
} from "holdfast";

/** A Holdfast, and its clock. */
export interface SharedHoldfast {
  readonly holdfast: Holdfast;
  readonly clock: Clock;
}

const DEFAULT_PREFIX = "holdfast";
const shared = new WeakMap<object, Map<string, SharedHoldfast>>();
/** What else is to be closed with a client. */
const endings = new WeakMap<object, Set<() => Promise<void>>>();
const watched = new WeakSet<object>();

export function checkClient(client: unknown): void {
  if ((typeof client !== "object" && typeof client !== "function") || client === null) {
    throw new InvalidArgumentError("client", "must be a client object, such as ioredis or node-redis make");
  }
}

export function sharedHoldfast(client: RedisClientLike, options: HoldfastOptions = {}): SharedHoldfast {
  checkClient(client);
  const prefix = options.prefix ?? DEFAULT_PREFIX;
  const known = shared.get(client)?.get(prefix);
  if (known) return known;
  const made = { holdfast: new Holdfast(client, options), clock: options.clock ?? systemClock };
  const byPrefix = shared.get(client) ?? new Map<string, SharedHoldfast>();
  shared.set(client, byPrefix.set(prefix, made));
  if (!watched.has(client)) {
    watched.add(client);
    whenEnded(client, () => void closeShared(client));
  }
  return made;
}

/**
 * A program of the originals ends its client, and knows of no Holdfast: its second connection would keep the process alive.
 * GLIDE does not say that it is closed.
 */
function whenEnded(client: RedisClientLike, listener: () => void): void {
  const { on } = client as { readonly on?: (event: string, listener: () => void) => unknown };
  on?.call(client, "end", listener);
}

async function closeShared(client: RedisClientLike): Promise<void> {
  const holdfasts = [...(shared.get(client)?.values() ?? [])];
  shared.delete(client);
  await Promise.all(holdfasts.map(({ holdfast }) => holdfast.close()));
}

/**
 * The Holdfast that the modules of this package use over this client. All of them share it, one for each prefix.
 * @param options used only by the call that makes the Holdfast, so pass them before the first lock is made
 * @throws {UnsupportedClientError} @throws {InvalidArgumentError}
 */
export function holdfastOf(client: RedisClientLike, options: HoldfastOptions = {}): Holdfast {
  return sharedHoldfast(client, options).holdfast;
}

/** Lets `closeHoldfasts` of any of these clients, and the end of all of them, call `close`, once. */
export function closeWith(clients: readonly RedisClientLike[], close: () => Promise<void>): void {
  const open = new Set(clients);
  const ending = (): Promise<void> => {
    for (const client of clients) endings.get(client)?.delete(ending);
    return close();
  };
  for (const client of clients) {
    endings.set(client, (endings.get(client) ?? new Set()).add(ending));
    whenEnded(client, () => {
      if (open.delete(client) && open.size === 0) void ending();
    });
  }
}

/**
 * Releases every lock that a module of this package took over these clients, also those over several servers of which one
 * is named here. Rejects the waiters, and closes the connections for wake-ups. The clients stay open; a later lock makes a
 * new Holdfast.
 */
export async function closeHoldfasts(...clients: readonly RedisClientLike[]): Promise<void> {
  const closing = clients.flatMap((client) => {
    const others = [...(endings.get(client) ?? [])];
    return [closeShared(client), ...others.map((ending) => ending())];
  });
  await Promise.all(closing);
}
