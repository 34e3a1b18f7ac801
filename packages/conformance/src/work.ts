/** Functions of a caller, for cases about what runs them. */
import assert from "node:assert/strict";

/** Work that must not run. */
export function never(): never {
  return assert.fail("the work ran again");
}

/** Work that says when it has begun, and goes on to `result` when it may. */
export function slow<Value>(result: () => Value | Promise<Value>): {
  work(): Promise<Value>;
  readonly began: Promise<void>;
  end(): void;
} {
  let [begin, end] = [(): void => {}, (): void => {}];
  const began = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const mayEnd = new Promise<void>((resolve) => {
    end = resolve;
  });
  return {
    async work() {
      begin();
      await mayEnd;
      return result();
    },
    began,
    end: () => end(),
  };
}
