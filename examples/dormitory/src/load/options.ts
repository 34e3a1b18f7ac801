/** The settings of a load run, checked by the command line. */
import type { Way } from "../domain/batch.js";

export interface LoadOptions {
  readonly students: number;
  readonly servers: number;
  readonly workers: number;
  /** Of the accounts, the rooms and the wishes. */
  readonly seed: number;
  readonly ways: readonly Way[];
  /** Null: boot the embedded engine. */
  readonly redisUrl: string | null;
  /** Null: boot PGlite. */
  readonly postgresUrl: string | null;
  readonly json: boolean;
  /** Null: no report. */
  readonly reportFile: string | null;
}
