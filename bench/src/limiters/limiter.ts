/** Limiter: one way of limiting a rate, as its own documentation shows it, behind one call. */

export interface Limiter {
  /** Called once for each case and slice; the slice then calls the function that it returns. */
  check(terms: CheckTerms): Check;
  close(): Promise<void>;
}

export interface CheckTerms {
  readonly max: number;
  readonly perMs: number;
}

/** Takes one for the target. Whether it was admitted. */
export type Check = (target: string) => Promise<boolean>;
