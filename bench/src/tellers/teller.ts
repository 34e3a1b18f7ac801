/** Teller: one way of telling another process, behind two calls. */
export interface Teller {
  /** Waits for the next word about the name. @throws when none came in time */
  hear(name: string): Promise<unknown>;
  /** Whether anybody waits there, as far as this way of telling knows. */
  tell(name: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Longer than any word takes: who hears none has missed it. */
export const HEAR_MS = 2_000;

export class Missed extends Error {}
