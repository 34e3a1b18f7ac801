/** The votes of the clients on one operation, as the original reports them: each is for it, or against it for a reason. */
import type { NodeVote, RedisClientLike } from "holdfast";
import { type ExecutionStats, lockedError } from "./errors.js";

/** Why a client is against the operation; null: it is for it. */
export type Votes = ReadonlyMap<RedisClientLike, Error | null>;

/** A vote that was not needed any more when the operation ended. */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";

  constructor() {
    super("The server had not answered when the operation ended.");
  }
}

export function statsOf(votes: Votes): ExecutionStats {
  const stats = {
    membershipSize: votes.size,
    quorumSize: Math.floor(votes.size / 2) + 1,
    votesFor: new Set<RedisClientLike>(),
    votesAgainst: new Map<RedisClientLike, Error>(),
  };
  for (const [client, against] of votes) {
    if (against) stats.votesAgainst.set(client, against);
    else stats.votesFor.add(client);
  }
  return stats;
}

/** All clients say the same. */
export function unanimous(clients: readonly RedisClientLike[], against: Error | null): Votes {
  return new Map(clients.map((client) => [client, against]));
}

/**
 * The votes on an operation with several resources: a client is for it when it is for every resource.
 * @param ballots for each resource that was asked for, what the nodes said, in the order of the clients; null: unknown
 * @param asked number of resources that the operation was for
 */
export function counted(
  clients: readonly RedisClientLike[],
  ballots: readonly (readonly NodeVote[] | null)[],
  asked: number,
): Votes {
  return new Map(
    clients.map((client, place) => {
      const said = ballots.flatMap((ballot) => ballot?.[place] ?? []);
      const applied = said.filter(({ vote }) => vote === "for").length;
      if (applied === asked) return [client, null];
      const error = said.find((each) => each.error !== null)?.error;
      const silent = said.some(({ vote }) => vote === "none");
      return [client, error ?? (silent ? new UnansweredError() : lockedError(applied, asked))];
    }),
  );
}
