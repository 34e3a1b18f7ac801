/** The application under load, as the first process starts it. */
import type { OpenDormitory } from "../state/dormitory.js";
import type { LoadOptions } from "./options.js";
import type { Account } from "./student.js";

export interface LoadContext {
  readonly options: LoadOptions;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** The whole application, on new data of the seed: the same data every time. */
  start(): Promise<RunningApplication>;
}

export interface RunningApplication {
  /** "http://127.0.0.1:8080" */
  readonly url: string;
  /** The name and version of the server that keeps the state. */
  readonly server: string;
  readonly dormitory: OpenDormitory;
  /** All students of the seed. */
  readonly accounts: readonly Account[];
  /** Kills one with SIGKILL. Another one takes its place. @returns its process id; null: none runs */
  killWebServer(): number | null;
  killWorker(): number | null;
  stop(): Promise<void>;
}
