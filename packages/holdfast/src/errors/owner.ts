/** Owner: who holds a lock. */
/** The holder of a lock, as its process described itself. */
export interface Owner {
  readonly host: string;
  readonly pid: number;
  /** The `label` option of the process; empty by default. */
  readonly label: string;
  /** Time of the grant in ms since 1970: by the server's clock, or by this process's clock for a holder in this process. */
  readonly sinceMs: number;
  readonly fence: bigint;
}
