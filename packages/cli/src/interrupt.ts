/** Ctrl-C and its kin, while holdfast itself works: they end the work in order, the second time at once. */
import { codeOfExit } from "./exit-codes.js";
import { Failure } from "./failure.js";
import { ignoresHangUp } from "./hang-up.js";
import { host } from "./host.js";

const ENDING: readonly NodeJS.Signals[] = [
  "SIGINT",
  "SIGTERM",
  "SIGQUIT",
  ...(ignoresHangUp() ? [] : ["SIGHUP" as const]),
];

export class Interrupted extends Failure {
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals) {
    super("INTERRUPTED", codeOfExit(signal), `ended by ${signal}`);
    this.signal = signal;
  }
}

/** Ends this process by a signal, at once. */
export function endBy(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Runs `work` with a signal that aborts, with an `Interrupted`, when the user wants it to end. */
export async function interruptible<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  const at = host();
  const interrupt = new AbortController();
  const listener = (name: NodeJS.Signals): void => {
    if (interrupt.signal.aborted) endBy(name);
    interrupt.abort(new Interrupted(name));
  };
  for (const name of ENDING) at.on(name, listener);
  try {
    return await work(interrupt.signal);
  } finally {
    for (const name of ENDING) at.off(name, listener);
  }
}

/** Notes a signal that ends the work, while it goes to somebody else. Returns a function that ends the notes, and gives the first. */
export function noteInterrupts(): () => NodeJS.Signals | null {
  const at = host();
  let first: NodeJS.Signals | null = null;
  const listener = (name: NodeJS.Signals): void => {
    first ??= name;
  };
  for (const name of ENDING) at.on(name, listener);
  return () => {
    for (const name of ENDING) at.off(name, listener);
    return first;
  };
}

/**
 * From here on, none of these signals ends the process by itself, also not in the moment between the removal of one listener and
 * the next. A signal reaches the listeners of the next turn of the event loop.
 */
export function takeOverSignals(): void {
  for (const name of ENDING) host().on(name, () => {});
}
