/** Callbacks of npm redlock 4: every method that returns a promise takes one as its last argument, too. */

// biome-ignore lint/suspicious/noExplicitAny: as in the types of the original, whose programs read its message
export type Callback<Value> = (error: any, value?: Value) => void;

/**
 * The same promise. The callback runs outside of it, so an error that the callback throws is an uncaught exception, as with
 * the original.
 */
export function withCallback<Value>(
  promise: Promise<Value>,
  callback: Callback<Value> | undefined,
): Promise<Value> {
  if (typeof callback === "function") {
    promise.then(
      (value) => process.nextTick(callback, null, value),
      (error: unknown) => process.nextTick(callback, error),
    );
  }
  return promise;
}
