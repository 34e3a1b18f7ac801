/** The part of redlock 4.2.0 that is measured; the package has no declarations. */

export interface Lock {
  unlock(): Promise<void>;
}

export default class Redlock {
  constructor(clients: readonly unknown[], options?: object);
  on(event: "clientError", listener: (error: unknown) => void): this;
  lock(resource: string, ttlMs: number): Promise<Lock>;
}
