/** A question before something is taken away. */
import { createInterface } from "node:readline/promises";
import { host } from "./host.js";

/** @throws the reason of `signal` */
export async function confirmed(question: string, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: host().stdin, output: host().stderr });
  const interrupt = new AbortController();
  terminal.once("close", () => interrupt.abort()); // Ctrl-D
  terminal.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  signal.addEventListener("abort", () => interrupt.abort(signal.reason), { once: true });
  try {
    return /^y(es)?$/i.test(
      (await terminal.question(`${question} [y/N] `, { signal: interrupt.signal })).trim(),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (interrupt.signal.aborted) return false;
    throw error;
  } finally {
    terminal.close();
  }
}
