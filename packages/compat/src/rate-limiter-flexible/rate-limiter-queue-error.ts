/** RateLimiterQueueError: a queue will not serve a call. */
export class RateLimiterQueueError extends Error {
  /** The original's name for it. */
  override name = "CustomError";
  readonly extra: string | undefined;

  constructor(message?: string, extra?: string) {
    super(message);
    this.extra = extra;
  }
}
