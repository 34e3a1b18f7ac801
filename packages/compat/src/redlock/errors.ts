/** The errors of npm redlock, and the votes that they carry. */

// biome-ignore lint/suspicious/noExplicitAny: it is of the library of the program, which may go on with it as such
export type Client = any;

/** What one client said of an operation. */
export type ClientExecutionResult =
  | { client: Client; vote: "for"; value: number }
  | { client: Client; vote: "against"; error: Error };

export interface ExecutionStats {
  readonly membershipSize: number;
  readonly quorumSize: number;
  readonly votesFor: Set<Client>;
  readonly votesAgainst: Map<Client, Error>;
}

export interface ExecutionResult {
  /** One vote for each operation, however long it waited. */
  attempts: ReadonlyArray<Promise<ExecutionStats>>;
}

/** Another lock exists on one of the resources. */
export class ResourceLockedError extends Error {
  override name = "ResourceLockedError";
}

/** The operation failed. `attempts` have the reasons, and `cause` is the error of holdfast. */
export class ExecutionError extends Error {
  override name = "ExecutionError";
  readonly attempts: ReadonlyArray<Promise<ExecutionStats>>;

  constructor(
    message: string,
    attempts: ReadonlyArray<Promise<ExecutionStats>>,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options);
    this.attempts = attempts;
  }
}

/** The number of resources, counted as the original's scripts count those that they changed. */
export function lockedError(applied: number, asked: number, cause?: unknown): ResourceLockedError {
  const message = `The operation was applied to: ${applied} of the ${asked} requested resources.`;
  return new ResourceLockedError(message, cause === undefined ? undefined : { cause });
}
