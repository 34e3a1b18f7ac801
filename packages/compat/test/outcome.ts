/** The outcome of a scenario in a form in which an original and its compat module can be compared. */

export interface Failure {
  readonly kind: string;
  readonly message: string;
  readonly attempts?: readonly unknown[];
}

/** What both sides must agree on: times, values and stacks are their own. */
export async function outcome(work: () => unknown): Promise<unknown> {
  try {
    return { value: await work() };
  } catch (error) {
    const { name, message, attempts } = error as Error & { attempts?: readonly Promise<Stats>[] };
    const kind = name === "InvalidArgumentError" ? "Error" : (error as Error).constructor.name;
    const failure: Failure = { kind, message };
    return attempts ? { ...failure, attempts: await votes({ attempts }) } : failure;
  }
}

export interface Stats {
  readonly membershipSize: number;
  readonly quorumSize: number;
  readonly votesFor: Set<unknown>;
  readonly votesAgainst: Map<unknown, Error>;
}

export async function votes({
  attempts,
}: {
  readonly attempts: readonly Promise<Stats>[];
}): Promise<unknown[]> {
  return (await Promise.all(attempts)).map((stats) => ({
    membershipSize: stats.membershipSize,
    quorumSize: stats.quorumSize,
    votesFor: stats.votesFor.size,
    votesAgainst: [...stats.votesAgainst.values()].map((error) => [error.name, error.message]),
  }));
}

/** The duration less 1 % and 2 ms, from some moment of the call. */
export function endsBetween(sinceMs: number, expiration: number, durationMs: number): boolean {
  const usableMs = durationMs * 0.99 - 2;
  return expiration >= sinceMs + usableMs && expiration <= Date.now() + usableMs;
}
