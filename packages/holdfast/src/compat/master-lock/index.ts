/**
 * holdfast/compat/master-lock: the Ruby gem master_lock in TypeScript, on holdfast. Names in camel case,
 * times in seconds, as in the gem; docs/guides/migrating.md lists what differs.
 */
import {
  Backend,
  type Block,
  type ConditionalBlock,
  type ConditionalOptions,
  type SynchronizeOptions,
} from "./backend.js";
import type { Config, Logger } from "./config.js";

let current: Backend | null = null;

/** The gem's module: everything goes to one backend, which can be replaced. */
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

export default MasterLock;
export { closeHoldfasts, holdfastOf } from "../holdfasts.js";
export {
  Backend,
  type Block,
  type ConditionalBlock,
  type ConditionalOptions,
  type SynchronizeOptions,
} from "./backend.js";
export {
  type Config,
  DEFAULT_ACQUIRE_TIMEOUT,
  DEFAULT_EXTEND_INTERVAL,
  DEFAULT_KEY_PREFIX,
  DEFAULT_SLEEP_TIME,
  DEFAULT_TTL,
  type Logger,
} from "./config.js";
export { LockNotAcquiredError, NotStartedError, UnconfiguredError } from "./errors.js";
export { RedisLock, type RedisLockOptions } from "./redis-lock.js";
export { type Extendable, type Holder, type Registration, Registry } from "./registry.js";
