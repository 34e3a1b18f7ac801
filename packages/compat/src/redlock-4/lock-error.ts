/** LockError: the one error of npm redlock 4. */

export class LockError extends Error {
  override name = "LockError";
  /** The number of tries that the original would have made. 0: an extension failed without a try; undefined: an unlock failed. */
  attempts: number;

  constructor(message?: string, attempts?: number, options?: { readonly cause?: unknown }) {
    super(message || "Failed to lock the resource.", options);
    this.attempts = attempts as number;
  }
}
