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

/** What stands on several clients. */
interface OverSeveral {
  /** The clients that have not ended. */
  readonly open: Set<RedisClientLike>;
  close(): Promise<void>;
}

const DEFAULT_PREFIX = "holdfast";
const shared = new WeakMap<object, Map<string, SharedHoldfast>>();
const overSeveral = new WeakMap<object, Set<OverSeveral>>();
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
  watch(client);
  return made;
}

/**
 * A program of the originals ends its client, and knows of no Holdfast: its second connection would keep the process alive.
 * A client has one listener, however often what stands on it is closed and made again. GLIDE does not say that it is closed.
 */
function watch(client: RedisClientLike): void {
  if (watched.has(client)) return;
  watched.add(client);
  const { on } = client as { readonly on?: (event: string, listener: () => void) => unknown };
  on?.call(client, "end", () => {
    for (const each of overSeveral.get(client) ?? []) each.open.delete(client);
    // Calls under way are told first that the client has ended, instead of that somebody has closed the Holdfast.
    systemClock.setTimer(() => {
      void closeShared(client);
      for (const each of overSeveral.get(client) ?? []) if (each.open.size === 0) void each.close();
    }, 0);
  });
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
  const made: OverSeveral = {
    open: new Set(clients),
    close() {
      for (const client of clients) overSeveral.get(client)?.delete(made);
      return close();
    },
  };
  for (const client of clients) {
    overSeveral.set(client, (overSeveral.get(client) ?? new Set()).add(made));
    watch(client);
  }
}

/**
 * Releases every lock that a module of this package took over these clients, also those over several servers of which one
 * is named here. Rejects the waiters, and closes the connections for wake-ups. The clients stay open; a later lock makes a
 * new Holdfast.
 */
export async function closeHoldfasts(...clients: readonly RedisClientLike[]): Promise<void> {
  const closing = clients.flatMap((client) => {
    const others = [...(overSeveral.get(client) ?? [])];
    return [closeShared(client), ...others.map((each) => each.close())];
  });
  await Promise.all(closing);
}
