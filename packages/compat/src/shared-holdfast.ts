/**
 * The Holdfast behind the modules of this package: one for each client and prefix, made at first use. The originals
 * take a bare client wherever a lock is made, so it is found by the client.
 */
import {
  type Clock,
  Holdfast,
  type HoldfastOptions,
  InvalidArgumentError,
  type RedisClientLike,
  systemClock,
} from "holdfast";

/** A Holdfast, and the clock that it lives by. */
export interface SharedHoldfast {
  readonly holdfast: Holdfast;
  readonly clock: Clock;
}

const DEFAULT_PREFIX = "holdfast";
const shared = new WeakMap<object, Map<string, SharedHoldfast>>();

export function sharedHoldfast(client: RedisClientLike, options: HoldfastOptions = {}): SharedHoldfast {
  if ((typeof client !== "object" && typeof client !== "function") || client === null) {
    throw new InvalidArgumentError("client", "must be a client object, such as ioredis or node-redis make");
  }
  const prefix = options.prefix ?? DEFAULT_PREFIX;
  const known = shared.get(client)?.get(prefix);
  if (known) return known;
  const made = { holdfast: new Holdfast(client, options), clock: options.clock ?? systemClock };
  const byPrefix = shared.get(client) ?? new Map<string, SharedHoldfast>();
  shared.set(client, byPrefix.set(prefix, made));
  return made;
}

/**
 * The Holdfast that the modules of this package use over this client. All of them share it, one for each prefix.
 * @param options Counts only for the call that makes it, so give it before the first lock is made.
 * @throws {UnsupportedClientError} @throws {InvalidArgumentError}
 */
export function holdfastOf(client: RedisClientLike, options: HoldfastOptions = {}): Holdfast {
  return sharedHoldfast(client, options).holdfast;
}

/**
 * Releases every lock that a compat module took over this client, ends what waits, and closes the
 * connection for wake-ups. The client stays open; a lock made later begins anew.
 */
export async function closeHoldfasts(client: RedisClientLike): Promise<void> {
  const byPrefix = shared.get(client);
  shared.delete(client);
  if (byPrefix) await Promise.all([...byPrefix.values()].map(({ holdfast }) => holdfast.close()));
}
