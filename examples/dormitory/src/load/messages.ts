/** What the first process and the process of the students say to each other. */
import type { Account, Heard } from "./student.js";

export interface CrowdSetup {
  readonly origin: string;
  readonly connections: number;
  readonly accounts: readonly Account[];
}

export type ToCrowd =
  | { readonly type: "sign in"; readonly setup: CrowdSetup }
  /** By the clock of the machine. */
  | { readonly type: "choose"; readonly startsAtMs: number };

export type FromCrowd =
  /** Students who are signed in. */
  | { readonly type: "signed in"; readonly students: number }
  /** Students who have a result, and how long after the start. */
  | { readonly type: "decided"; readonly students: number; readonly sinceStartMs: number }
  | {
      readonly type: "heard";
      readonly heard: readonly Heard[];
      /** Between the start and the last result. */
      readonly requests: number;
      readonly retries: number;
    }
  | { readonly type: "failed"; readonly message: string };
