/** The part of redis-semaphore 5.8.0 that is used. */

export class Mutex {
  constructor(
    client: unknown,
    key: string,
    options?: { readonly lockTimeout?: number; readonly onLockLost?: (error: unknown) => void },
  );
  acquire(): Promise<void>;
  release(): Promise<void>;
}
