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

/** A quorum over several clients. */
interface OverSeveral {
  /** The clients that have not ended, or are back. */
  readonly open: Set<RedisClientLike>;
  /** A later call makes another one. */
  forget(): void;
  close(): Promise<void>;
}

const DEFAULT_PREFIX = "holdfast";
const shared = new WeakMap<object, Map<string, SharedHoldfast>>();
const quorums = new WeakMap<object, Set<OverSeveral>>();
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
 * A client has two listeners, however often what stands on it is closed and made again. GLIDE does not say that it is closed.
 */
function watch(client: RedisClientLike): void {
  if (watched.has(client)) return;
  watched.add(client);
  const { on } = client as { readonly on?: (event: string, listener: () => void) => unknown };
  const above = (): OverSeveral[] => [...(quorums.get(client) ?? [])];
  on?.call(client, "ready", () => {
    for (const { open } of above()) open.add(client);
  });
  on?.call(client, "end", () => {
    for (const { open } of above()) open.delete(client);
    const ended = above().filter(({ open }) => open.size === 0);
    for (const each of ended) each.forget();
    const holdfasts = forgetShared(client);
    // Calls under way are told first that the client has ended, instead of that somebody has closed the Holdfast.
    systemClock.setTimer(() => {
      for (const each of [...ended, ...holdfasts]) void each.close();
    }, 0);
  });
}

/** A later call over the client, which may be open again by then, makes others. */
function forgetShared(client: RedisClientLike): Holdfast[] {
  const forgotten = [...(shared.get(client)?.values() ?? [])];
  shared.delete(client);
  return forgotten.map(({ holdfast }) => holdfast);
}

/**
 * The Holdfast that the modules of this package use over this client. All of them share it, one for each prefix.
 * @param options used only by the call that makes the Holdfast, so pass them before the first lock is made
 * @throws {UnsupportedClientError} @throws {InvalidArgumentError}
 */
export function holdfastOf(client: RedisClientLike, options: HoldfastOptions = {}): Holdfast {
  return sharedHoldfast(client, options).holdfast;
}

/** Lets `closeHoldfasts` of any of these clients, and the end of all of them, close the quorum, once. */
export function closeWith(clients: readonly RedisClientLike[], quorum: Omit<OverSeveral, "open">): void {
  const made: OverSeveral = {
    open: new Set(clients),
    forget() {
      for (const client of clients) quorums.get(client)?.delete(made);
      quorum.forget();
    },
    close: () => quorum.close(),
  };
  for (const client of clients) {
    quorums.set(client, (quorums.get(client) ?? new Set()).add(made));
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
    const above = [...(quorums.get(client) ?? [])];
    for (const each of above) each.forget();
    return [...forgetShared(client), ...above];
  });
  await Promise.all(closing.map((each) => each.close()));
}
