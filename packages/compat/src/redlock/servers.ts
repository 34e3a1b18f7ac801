/** Servers: what is behind a Redlock of this module. Over one client it is its Holdfast, over several a quorum of them. */
import {
  AcquireTimeoutError,
  type Clock,
  type Lease,
  type MultiLock,
  type MutexOptions,
  type NodeVote,
  NoQuorumError,
  type RedisClientLike,
} from "holdfast";
import { sharedHoldfast } from "../shared-holdfast.js";
import { ttlFor } from "../timed-leases.js";
import { lockedError } from "./errors.js";
import { type SharedRedlock, sharedRedlock } from "./shared-redlock.js";
import { counted, unanimous, type Votes } from "./votes.js";

/** Over several servers a call may take a tenth of the ttl. With this ttl, that is the default time-out of a call. */
const SHORTEST_TTL_MS = 2_500;

export interface Servers {
  readonly clock: Clock;
  /** The ttl of the leases of a lock. They are renewed for a longer lock, and released when it is over. */
  ttlFor(durationMs: number): number;
  /** All resources, or none. @throws {InvalidArgumentError} a name is none */
  lock(names: readonly string[], options: MutexOptions): MultiLock;
  /** The votes for held resources, as they are when every server has answered or the resources are released. */
  held(leases: readonly Lease[]): Promise<Votes>;
  /** The votes on an acquire that failed. @param asked number of its resources */
  failed(error: Error, asked: number): Votes;
}

export function serversOf(clients: ReadonlySet<RedisClientLike>): Servers {
  const [first] = clients;
  return clients.size === 1 && first ? overOne(first) : overSeveral(sharedRedlock(clients));
}

function overOne(client: RedisClientLike): Servers {
  const { holdfast, clock } = sharedHoldfast(client);
  return {
    clock,
    ttlFor,
    lock: (names, options) => holdfast.multiLock(names.map((name) => holdfast.mutex(name, options))),
    held: async () => unanimous([client], null),
    failed(error, asked) {
      const isTaken = error instanceof AcquireTimeoutError;
      return unanimous([client], isTaken ? lockedError(0, asked, error) : error);
    },
  };
}

function overSeveral({ quorum, clients, clock }: SharedRedlock): Servers {
  const ballots = (leases: readonly Lease[]) => Promise.all(leases.map((lease) => quorum.votes(lease)));
  return {
    clock,
    ttlFor: (durationMs) => Math.min(Math.max(ttlFor(durationMs), SHORTEST_TTL_MS), quorum.maxTtlMs),
    lock: (names, options) => quorum.multiLock(names.map((name) => quorum.mutex(name, options))),
    held: async (leases) => counted(clients, await ballots(leases), leases.length),
    failed(error, asked) {
      const ballot = ballotOf(error, clients.length);
      return ballot ? counted(clients, [ballot], asked) : unanimous(clients, error);
    },
  };
}

/** What the nodes said of the resource that could not be had; null: it failed for another reason. */
function ballotOf(error: Error, nodes: number): readonly NodeVote[] | null {
  if (error instanceof AcquireTimeoutError && error.votes) return error.votes;
  const failures = error instanceof NoQuorumError ? error.nodes : [];
  if (failures.length === 0 && !(error instanceof AcquireTimeoutError)) return null;
  return Array.from({ length: nodes }, (_, index): NodeVote => {
    const failure = failures.find(({ place }) => place === index + 1);
    return { node: failure?.node ?? "", place: index + 1, vote: "against", error: failure?.error ?? null };
  });
}
