/// <reference lib="esnext.disposable" preserve="true" />
/**
 * holdfast/redlock: locks over several independent servers. Nobody holds a lock without the votes of a majority of them, so that locks
 * go on while a minority is away, and no failover is needed. A process needs one Redlock, for as long as it runs.
 */
import { checkOptions, refuseSurplus } from "./arguments.js";
import { ClosedError, InvalidArgumentError, type NodeVote, NotOverQuorumError } from "./errors.js";
import type { Lease } from "./lease/lease.js";
import { Incarnations } from "./locks/backends/redlock/incarnations.js";
import type { Membership } from "./locks/backends/redlock/membership.js";
import { type NodeState, RedlockNode } from "./locks/backends/redlock/node.js";
import { RedlockLocks } from "./locks/backends/redlock/redlock-locks.js";
import type { LockInspection } from "./locks/inspection.js";
import { DEFAULT_TTL_MS } from "./locks/lock-options.js";
import { Locks } from "./locks/locks.js";
import type { MultiLock } from "./locks/multi-lock.js";
import type { Mutex, MutexOptions } from "./locks/mutex.js";
import { checkProcess, type ProcessOptions, type ProcessSettings } from "./process-settings.js";
import { connectAll, type RedisClientLike } from "./redis/clients/connect.js";
import { RedisContext } from "./redis/context.js";
import { type Duration, durationMs } from "./time/duration.js";
import { Schedule } from "./time/schedule.js";

export {
  type NodeFailure,
  type NodeMembership,
  type NodeVote,
  NoQuorumError,
  NotOverQuorumError,
  NotVotingError,
} from "./errors.js";

export type { NodeState } from "./locks/backends/redlock/node.js";
export type { LockInspection } from "./locks/inspection.js";
export type { MultiLease } from "./locks/multi-lease.js";
export type { MultiAcquireOptions, MultiLock, MultiUnlessOptions, MultiWork } from "./locks/multi-lock.js";
export type { Mutex, MutexOptions } from "./locks/mutex.js";
export type { RedisClientLike } from "./redis/clients/connect.js";

export interface RedlockOptions extends ProcessOptions {
  /**
   * Time-out of one call to one node. A lock with a short ttl has a shorter one: a tenth of its ttl. The question whether a node
   * votes may take a second. @default "250ms"
   */
  readonly callTimeout?: Duration | undefined;
  /**
   * The longest `ttl` plus `lockDelay` of any lock over these nodes. It must be the same in all processes: a node that restarted
   * does not vote until leases of this length have expired. @default "1m"
   */
  readonly maxTtl?: Duration | undefined;
  /**
   * For how long after its start a node does not vote, because it may have lost its data. Less than `maxTtl` may let a second holder
   * in after a restart that lost data. Use 0 only when every node keeps all
   * data over a restart (`appendonly yes` with `appendfsync always`), or in a test. @default the value of `maxTtl`
   */
  readonly quarantine?: Duration | undefined;
}

const DEFAULT_CALL_TIMEOUT_MS = 250;
const DEFAULT_MAX_TTL_MS = 60_000;
const LONGEST_MS = 2 ** 31 - 1;
const SHORTEST_TTL_MS = 100;

export class Redlock {
  /** The longest `ttl` plus `lockDelay` of a lock, in ms: the option `maxTtl`. */
  readonly maxTtlMs: number;
  readonly #backend: RedlockLocks;
  readonly #locks: Locks;
  readonly #nodes: readonly RedlockNode[];
  #closed: Promise<void> | null = null;

  /**
   * @param clients One client, or one redis:// URL, for each server. The servers are independent primaries: none is a replica of
   *   another. The list must be the same in all processes. Clients of different libraries may be mixed. Clients stay yours; for a URL,
   *   holdfast opens a client of an installed library, and `close()` closes it.
   * @throws {InvalidArgumentError} @throws {UnsupportedClientError} @throws {ClientNotInstalledError}
   */
  constructor(clients: readonly (RedisClientLike | string)[], options: RedlockOptions = {}) {
    const { clock, maxTtlMs, quarantineMs, ...settings } = settingsOf(options);
    checkClients(clients);
    this.maxTtlMs = maxTtlMs;
    const schedule = new Schedule(clock);
    const incarnations = new Incarnations<Membership>();
    this.#nodes = connectAll(clients, schedule).map((connection, index) => {
      const context = new RedisContext(connection, { ...settings, schedule });
      return new RedlockNode(context, {
        place: index + 1,
        address: connection.address,
        quarantineMs,
        incarnations,
      });
    });
    const { random, label, callTimeoutMs } = settings;
    this.#backend = new RedlockLocks({ nodes: this.#nodes, schedule, random, callTimeoutMs, maxTtlMs });
    this.#locks = new Locks(this.#backend, { label, random }, schedule);
  }

  /**
   * Makes a lock on `name`, with the handle, options and errors of `hf.mutex`. The call is cheap. Mutexes of one name with the same
   * options share their place in line. An acquire rejects with NoQuorumError when too many nodes failed.
   * The default of `ttl` is 30 s, or `maxTtl` if that is shorter.
   * @throws {InvalidArgumentError} also when `ttl` plus `lockDelay` is longer than `maxTtl`
   */
  mutex(name: string, options?: MutexOptions): Mutex {
    if (this.maxTtlMs >= DEFAULT_TTL_MS || options?.ttl !== undefined)
      return this.#locks.mutex(name, options);
    return this.#locks.mutex(name, { ...options, ttl: this.maxTtlMs });
  }

  /**
   * Makes a lock of several mutexes of this Redlock, of which a caller takes all or none. They are taken in one order, the same in all
   * processes, and released when one of them cannot be had. The call is cheap.
   * @throws {InvalidArgumentError}
   */
  multiLock(parts: readonly Mutex[]): MultiLock {
    return this.#locks.multiLock(parts);
  }

  /**
   * Tells what each node said of a lease of this Redlock, in the order of the nodes. Resolves when every node has answered, or was
   * given up; to null when the lease is over.
   */
  votes(lease: Pick<Lease, "id">): Promise<readonly NodeVote[] | null> {
    return this.#backend.votes(lease);
  }

  /**
   * The state of locks in all processes. A lock is held by the claim that has a quorum of the nodes. It may look free while a node that
   * voted for it is away.
   */
  get inspection(): LockInspection {
    return this.#locks.inspection;
  }

  /**
   * Asks every node, and tells which of them vote. Never rejects because of a node.
   * @throws {ClosedError}
   */
  async nodes(): Promise<readonly NodeState[]> {
    if (this.#closed) throw new ClosedError("nodes() was called after close()");
    return Promise.all(this.#nodes.map((node) => node.state()));
  }

  /**
   * Releases all leases, ends all waits with ClosedError, and ends every timer and socket of its own. Settles within a few
   * call time-outs even when no node answers. May be repeated.
   */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #end(): Promise<void> {
    await this.#locks.close();
    await Promise.all(this.#nodes.map((node) => node.context.close()));
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  inspector(): never {
    throw notOverQuorum("inspector");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  doctor(): never {
    throw notOverQuorum("doctor");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  script(): never {
    throw notOverQuorum("script");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  adopt(): never {
    throw notOverQuorum("adopt");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  semaphore(): never {
    throw notOverQuorum("semaphore");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  rwLock(): never {
    throw notOverQuorum("rwLock");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  limit(): never {
    throw notOverQuorum("limit");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  guard(): never {
    throw notOverQuorum("guard");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  record(): never {
    throw notOverQuorum("record");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  once(): never {
    throw notOverQuorum("once");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  election(): never {
    throw notOverQuorum("election");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  queue(): never {
    throw notOverQuorum("queue");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  lanes(): never {
    throw notOverQuorum("lanes");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  signal(): never {
    throw notOverQuorum("signal");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  event(): never {
    throw notOverQuorum("event");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  latch(): never {
    throw notOverQuorum("latch");
  }

  /** Does not exist over a quorum: the error says why, and what to use. @throws {NotOverQuorumError} */
  barrier(): never {
    throw notOverQuorum("barrier");
  }
}

refuseSurplus<Pick<Redlock, "mutex" | "multiLock" | "votes">>(Redlock, { mutex: 2, multiLock: 1, votes: 1 });

/** Why each noun cannot be spread over a quorum, and what to use. */
const REASONS = {
  inspector:
    "it shows nouns that only one server has; use redlock.inspection for locks, or (await new Holdfast(client).inspector()) for one server",
  doctor:
    "it examines one server; use new Holdfast(client).doctor() for each of them, and redlock.nodes() for whether they vote",
  script:
    "a script runs at one server, and the others would not see what it writes; use new Holdfast(client).script()",
  adopt:
    "a lease over several servers cannot be handed over; use new Holdfast(client).adopt() for a lease over one server",
  semaphore:
    "two majorities may count different holders, and let in more than its size; use one mutex for each permit, or new Holdfast(client).semaphore() over one server",
  rwLock:
    "readers of one majority and a writer of another would not see each other; use a mutex, or new Holdfast(client).rwLock() over one server",
  limit:
    'counts of several servers cannot be added up at one moment; use new Holdfast(client).limit() over one server, with outage: "local" for when it is away',
  guard:
    'hits that several servers count cannot be added up at one moment; use new Holdfast(client).guard() over one server, with outage: "local" for when it is away',
  record:
    "writers of several servers must agree on one order, which takes a consensus; keep the value in a database that checks the lease's fence, or in new Holdfast(client).record() over one server",
  once: "the outcome that it stores is a record; hold a mutex and keep the outcome in a database that checks the lease's fence, or use new Holdfast(client).once() over one server",
  election:
    "the value of the leader is a record; hold a mutex, whose fence serves as the term, or use new Holdfast(client).election() over one server",
  queue:
    "each server would deliver a message of its own; make a queue with new Holdfast(client).queue() over each server, and push each message to one of them",
  lanes:
    "the order of a lane is that of one server; use new Holdfast(client).lanes() over one server, or spread the lanes over several by a hash of their names",
  signal:
    "nothing is held, so that there is nothing to vote on, and each server would deliver it; use new Holdfast(client, { replica }).signal(), which listens at two servers",
  event: "its flag is a record; use new Holdfast(client).event() over one server",
  latch:
    "counts of several servers cannot be added up at one moment; use new Holdfast(client).latch() over one server",
  barrier:
    "parties that arrive at different majorities would wait for each other without end; use new Holdfast(client).barrier() over one server",
} as const;

function notOverQuorum(noun: keyof typeof REASONS): NotOverQuorumError {
  return new NotOverQuorumError(noun, REASONS[noun]);
}

interface RedlockSettings extends ProcessSettings {
  readonly maxTtlMs: number;
  readonly quarantineMs: number;
}

function settingsOf(options: RedlockOptions): RedlockSettings {
  checkOptions("options", options, [
    "prefix",
    "label",
    "callTimeout",
    "listenAfter",
    "maxTtl",
    "quarantine",
    "clock",
    "random",
  ]);
  const { callTimeout = DEFAULT_CALL_TIMEOUT_MS, maxTtl = DEFAULT_MAX_TTL_MS, quarantine = maxTtl } = options;
  const maxTtlMs = durationMs("maxTtl", maxTtl, { minMs: SHORTEST_TTL_MS, maxMs: LONGEST_MS });
  const quarantineMs = durationMs("quarantine", quarantine, { minMs: 0, maxMs: LONGEST_MS });
  return { ...checkProcess(options, callTimeout), maxTtlMs, quarantineMs };
}

function checkClients(clients: readonly unknown[]): void {
  if (!Array.isArray(clients)) {
    throw new InvalidArgumentError("clients", "must be an array with a client or a URL for each server");
  }
  if (clients.length === 0) {
    throw new InvalidArgumentError("clients", "must name at least one server; three or five are usual");
  }
  // A hole in the list is no client, and is refused as one.
  const given = [...clients];
  const twice = given.findIndex((client, place) => client && given.indexOf(client) < place);
  if (twice >= 0) {
    const first = given.indexOf(given[twice]);
    throw new InvalidArgumentError(
      "clients",
      `has one client twice, at ${first + 1} and ${twice + 1}: each server votes once`,
    );
  }
}
