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
 * @param options used only by the call that makes the Holdfast, so pass them before the first lock is made
 * @throws {UnsupportedClientError} @throws {InvalidArgumentError}
 */
export function holdfastOf(client: RedisClientLike, options: HoldfastOptions = {}): Holdfast {
  return sharedHoldfast(client, options).holdfast;
}

/**
 * Releases every lock that a module of this package took over this client, rejects the waiters, and closes the
 * connection for wake-ups. The client stays open; a later lock makes a new Holdfast.
 */
export async function closeHoldfasts(client: RedisClientLike): Promise<void> {
  const byPrefix = shared.get(client);
  shared.delete(client);
  if (byPrefix) await Promise.all([...byPrefix.values()].map(({ holdfast }) => holdfast.close()));
}
