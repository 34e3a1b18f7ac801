/** The part of redlock 5.0.0-beta.2 that is used; its declarations are not exported under "nodenext". */

export interface Signal {
  readonly aborted: boolean;
  /** Why it is aborted. */
  readonly error?: Error;
}

export default class Redlock {
  constructor(clients: readonly unknown[], settings?: object);
  using<T>(
    resources: string[],
    durationMs: number,
    settings: object,
    routine: (signal: Signal) => Promise<T>,
  ): Promise<T>;
}
