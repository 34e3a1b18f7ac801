/** What callers write into a guarded resource: each write names the one that it follows from, so that a lost update shows. */
export interface Written {
  readonly id: string;
  /** The id that was read before; null where there was none. */
  readonly after: string | null;
}
