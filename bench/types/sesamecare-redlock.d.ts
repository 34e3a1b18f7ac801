/** The part of @sesamecare-oss/redlock 1.4.0 that is measured; its declarations name other clients' types. */

export interface Lock {
  release(): Promise<unknown>;
}

export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
}

export class Redlock {
  constructor(clients: readonly unknown[], settings?: object);
  on(event: "error", listener: (error: unknown) => void): this;
  acquire(resources: string[], durationMs: number): Promise<Lock>;
  using<T>(resources: string[], durationMs: number, routine: (signal: Signal) => Promise<T>): Promise<T>;
}
