/** npm redlock 4.2.0 has no types of its own. */
declare module "redlock4" {
  import type { EventEmitter } from "node:events";

  type Callback<Value> = (error: unknown, value?: Value) => void;

  interface OriginalLock {
    readonly resource: string[];
    readonly value: string;
    readonly expiration: number;
    readonly attempts: number;
    readonly attemptsRemaining: number;
    unlock(callback?: Callback<void>): Promise<void>;
    extend(ttl: number, callback?: Callback<OriginalLock>): Promise<OriginalLock>;
  }

  class Redlock extends EventEmitter {
    static readonly Lock: new (
      ...given: never[]
    ) => OriginalLock;
    static readonly LockError: new (
      message?: string,
      attempts?: number,
    ) => Error;
    constructor(clients: unknown[], options?: object);
    readonly servers: unknown[];
    readonly driftFactor: number;
    readonly retryCount: number;
    readonly retryDelay: number;
    readonly retryJitter: number;
    lock(resource: string | string[], ttl: number, callback?: Callback<OriginalLock>): Promise<OriginalLock>;
    acquire: Redlock["lock"];
    lockWithOptions(
      resource: string | string[],
      ttl: number,
      options: object,
      callback?: Callback<OriginalLock>,
    ): Promise<OriginalLock>;
    unlock(lock: OriginalLock, callback?: Callback<void>): Promise<void>;
    extend(lock: OriginalLock, ttl: number): Promise<OriginalLock>;
    quit(): Promise<unknown[]>;
  }

  export = Redlock;
}
