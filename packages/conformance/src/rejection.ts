/** How a case looks at a failure. */
import assert from "node:assert/strict";

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  return assert.fail(`resolved with ${String(value)} instead of rejecting`);
}
