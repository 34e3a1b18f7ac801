/**
 * The quorum behind a Redlock of this module: one for each set of clients, made at first use. The order of the clients does
 * not count, because all votes are equal.
 */
import { type Clock, InvalidArgumentError, type RedisClientLike, systemClock } from "holdfast";
import { Redlock as Quorum, type RedlockOptions } from "holdfast/redlock";
import { checkClient, closeWith } from "../shared-holdfast.js";

/** holdfast's Redlock over a set of clients. */
export interface SharedRedlock {
  readonly quorum: Quorum;
  /** In the order in which the quorum has them. */
  readonly clients: readonly RedisClientLike[];
  readonly clock: Clock;
}

interface Made extends SharedRedlock {
  readonly options: RedlockOptions;
}

const FEWEST = 2;
const numbers = new WeakMap<object, number>();
let lastNumber = 0;
/** Each set is known to every one of its clients, and forgotten with them. */
const made = new WeakMap<object, Map<string, Made>>();

export function sharedRedlock(given: Iterable<RedisClientLike>, options?: RedlockOptions): SharedRedlock {
  const clients = [...new Set(given)];
  for (const client of clients) checkClient(client);
  if (clients.length < FEWEST) {
    throw new InvalidArgumentError("clients", "must be two or more: holdfastOf(client) is for one");
  }
  const key = clients
    .map(numberOf)
    .sort((a, b) => a - b)
    .join();
  const known = made.get(clients[0] as object)?.get(key);
  if (known) {
    if (options && !isSame(options, known.options)) {
      const rule = "come too late: call redlockOf(clients, options) before the first `new Redlock(clients)`";
      throw new InvalidArgumentError("options", rule);
    }
    return known;
  }
  return remember(key, clients, options ?? {});
}

/**
 * holdfast's Redlock, which the Redlocks of this module use over these clients, two or more of them. Their order does not
 * count.
 * @param options they count from the first lock on, so pass them before `new Redlock(clients)`
 * @throws {UnsupportedClientError} @throws {InvalidArgumentError} also when the quorum exists and has other options
 */
export function redlockOf(clients: Iterable<RedisClientLike>, options?: RedlockOptions): Quorum {
  return sharedRedlock(clients, options).quorum;
}

function remember(key: string, clients: readonly RedisClientLike[], options: RedlockOptions): Made {
  const quorum = new Quorum(clients, options);
  const entry: Made = { quorum, clients, clock: options.clock ?? systemClock, options };
  for (const client of clients) made.set(client, (made.get(client) ?? new Map()).set(key, entry));
  closeWith(clients, {
    forget() {
      for (const client of clients) made.get(client)?.delete(key);
    },
    close: () => quorum.close(),
  });
  return entry;
}

function numberOf(client: object): number {
  const number = numbers.get(client) ?? ++lastNumber;
  numbers.set(client, number);
  return number;
}

function isSame(options: RedlockOptions, others: RedlockOptions): boolean {
  const names = Object.keys({ ...options, ...others }) as (keyof RedlockOptions)[];
  return names.every((name) => options[name] === others[name]);
}
