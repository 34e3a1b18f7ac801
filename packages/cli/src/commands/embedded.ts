/** `holdfast embedded`: a Valkey in this process, for trying things out and for tests, until Ctrl-C. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { EXIT } from "../exit-codes.js";
import { Failure } from "../failure.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { jsonOf, note, printLine } from "../output/output.js";

export interface EmbeddedTerms {
  readonly port: number;
  readonly host: string;
  readonly maxMemory: string;
}

export async function embedded(terms: EmbeddedTerms, json: boolean): Promise<number> {
  return interruptible(async (signal) => {
    const valkey = await EmbeddedValkey.start(terms);
    try {
      const { url, port } = valkey;
      printLine(json ? jsonOf({ url, host: valkey.host, port, pid: process.pid }) : url);
      if (host().stderr.isTTY && !json) note("Valkey in memory: Ctrl-C ends it, and its data with it");
      await endOf(valkey, signal);
    } finally {
      await valkey.stop();
    }
    return EXIT.ok;
  });
}

/** Its natural end is that the user wants it. */
function endOf(valkey: EmbeddedValkey, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    valkey.once("exit", (error) => {
      reject(new Failure("ENGINE_EXITED", EXIT.unavailable, error.message, { cause: error }));
    });
  });
}
