/** Around a command: what it has of its process, so that a test can run several beside each other in one. */
import { AsyncLocalStorage } from "node:async_hooks";

type Listener = (name: NodeJS.Signals) => void;

/** The standard streams, and the signals that end a command. A process is one. */
export interface Host {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  on(signal: NodeJS.Signals, listener: Listener): unknown;
  off(signal: NodeJS.Signals, listener: Listener): unknown;
}

const hosts = new AsyncLocalStorage<Host>();

/** The host of the command that calls: this process, unless `onHost` gave another. */
export function host(): Host {
  return hosts.getStore() ?? process;
}

/** What `work` starts, and what it waits for, has this host. */
export function onHost<Result>(it: Host, work: () => Result): Result {
  return hosts.run(it, work);
}
