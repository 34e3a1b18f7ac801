/** A run: the application until Ctrl-C, or under load. */

import { once } from "node:events";
import { runLoad } from "./load/run.js";
import type { Options } from "./options.js";
import { progress } from "./output/progress.js";
import { welcomeTo } from "./output/welcome.js";
import { startApplication } from "./start.js";

export function run(options: Options, signal: AbortSignal): Promise<number> {
  return options.load ? load(options, signal) : stayOpen(options, signal);
}

function load(options: Options, signal: AbortSignal): Promise<number> {
  return runLoad({
    options,
    signal,
    // A free port: a load run must not take the place of an application that is open.
    start: () => startApplication({ ...options, port: 0, purpose: "load", tell: () => {} }, signal),
  });
}

async function stayOpen(options: Options, signal: AbortSignal): Promise<never> {
  const { tell, done } = progress();
  const application = await startApplication({ ...options, purpose: "use", tell }, signal);
  try {
    done();
    process.stdout.write(welcomeTo(application, options));
    // The user may have pressed Ctrl-C while it opened.
    const either = AbortSignal.any([signal, application.failed]);
    if (!either.aborted) await once(either, "abort");
    application.failed.throwIfAborted();
  } finally {
    await application.stop();
  }
  throw signal.reason;
}
