/** MasterLock: the gem's module. Everything goes to one backend, which can be replaced. */
import {
  Backend,
  type Block,
  type ConditionalBlock,
  type ConditionalOptions,
  type SynchronizeOptions,
} from "./backend.js";
import type { Config, Logger } from "./config.js";

let current: Backend | null = null;

export const MasterLock = {
  get backend(): Backend {
    current ??= new Backend();
    return current;
  },

  set backend(backend: Backend) {
    current = backend;
  },

  get config(): Config {
    return MasterLock.backend.config;
  },

  get logger(): Logger {
    return MasterLock.backend.logger;
  },

  get started(): boolean {
    return MasterLock.backend.started;
  },

  configure(change: (config: Config) => void): void {
    MasterLock.backend.configure(change);
  },

  start(): void {
    MasterLock.backend.start();
  },

  synchronize,

  close(): Promise<void> {
    return MasterLock.backend.close();
  },
};

/** As `Backend.synchronize`, on the current backend. */
function synchronize<Value>(key: string, block: Block<Value>): Promise<Value>;
function synchronize<Value>(
  key: string,
  options: SynchronizeOptions & { readonly if?: never; readonly unless?: never },
  block: Block<Value>,
): Promise<Value>;
function synchronize<Value>(
  key: string,
  options: ConditionalOptions,
  block: ConditionalBlock<Value>,
): Promise<Value>;
function synchronize(key: string, ...rest: unknown[]): Promise<unknown> {
  return MasterLock.backend.synchronize(key, ...(rest as [ConditionalOptions, ConditionalBlock<unknown>]));
}
