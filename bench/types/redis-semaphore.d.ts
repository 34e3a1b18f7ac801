/** The part of redis-semaphore 5.8.0 that is measured. */

export class Mutex {
  constructor(
    client: unknown,
    key: string,
    options?: { readonly lockTimeout?: number; readonly onLockLost?: (error: unknown) => void },
  );
  readonly isAcquired: boolean;
  acquire(): Promise<void>;
  release(): Promise<void>;
}

export class Semaphore {
  constructor(client: unknown, key: string, limit: number);
  acquire(): Promise<void>;
  release(): Promise<void>;
}

export class MultiSemaphore {
  constructor(client: unknown, key: string, limit: number, permits: number);
  acquire(): Promise<void>;
  release(): Promise<void>;
}

export class RedlockMutex {
  constructor(clients: readonly unknown[], key: string);
  acquire(): Promise<void>;
  release(): Promise<void>;
}
