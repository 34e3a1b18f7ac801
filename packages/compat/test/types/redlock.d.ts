/** npm redlock 5.0.0-beta.2 has types, and an `exports` that hides them. */
declare module "redlock" {
  import type { EventEmitter } from "node:events";

  export interface OriginalStats {
    readonly membershipSize: number;
    readonly quorumSize: number;
    readonly votesFor: Set<unknown>;
    readonly votesAgainst: Map<unknown, Error>;
  }

  export interface OriginalLock {
    readonly resources: string[];
    readonly value: string;
    readonly attempts: readonly Promise<OriginalStats>[];
    readonly expiration: number;
    release(): Promise<{ readonly attempts: readonly Promise<OriginalStats>[] }>;
    extend(duration: number): Promise<OriginalLock>;
  }

  export default class Redlock extends EventEmitter {
    constructor(clients: Iterable<unknown>, settings?: Record<string, unknown>);
    readonly settings: Record<string, number>;
    acquire(resources: string[], duration: number, settings?: object): Promise<OriginalLock>;
    using<Value>(
      resources: string[],
      duration: number,
      settings: object,
      routine?: (signal: AbortSignal & { error?: Error }) => Promise<Value>,
    ): Promise<Value>;
  }
}
