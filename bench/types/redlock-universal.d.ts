/** The part of redlock-universal 0.8.5 that is measured. */

export interface LockHandle {
  readonly key: string;
}

export interface Lock {
  acquire(): Promise<LockHandle>;
  release(handle: LockHandle): Promise<boolean>;
  using<T>(routine: (signal: AbortSignal) => Promise<T>): Promise<T>;
}

export class IoredisAdapter {
  constructor(client: unknown);
}

export function createLock(options: {
  readonly adapter: IoredisAdapter;
  readonly key: string;
  readonly ttl?: number;
}): Lock;

export function createRedlock(options: {
  readonly adapters: readonly IoredisAdapter[];
  readonly key: string;
}): Lock;
