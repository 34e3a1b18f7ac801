/** Whether a node answers, by a request that takes nothing. */
import { ServerError } from "../../../errors.js";
import type { RedlockNode } from "./node.js";

export async function answers({ context: { port, callTimeoutMs } }: RedlockNode): Promise<boolean> {
  try {
    await port.command(["PING"], callTimeoutMs);
    return true;
  } catch (error) {
    return error instanceof ServerError; // a refusal is an answer
  }
}
