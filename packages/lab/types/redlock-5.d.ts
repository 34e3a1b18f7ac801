/** The part of redlock 5.0.0-beta.2 that is used; its declarations are not exported under "nodenext". */

export interface Lock {
  /** Wall milliseconds. */
  readonly expiration: number;
  /** What the servers have under the key. */
  readonly value: string;
  release(): Promise<unknown>;
}

export default class Redlock {
  constructor(clients: readonly unknown[], settings?: object);
  on(event: "error", listener: (error: unknown) => void): this;
  acquire(resources: string[], durationMs: number): Promise<Lock>;
}
