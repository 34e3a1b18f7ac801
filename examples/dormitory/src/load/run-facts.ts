/** A whole run, as the table, the line of JSON and the report show it. */
import type { LoadOptions } from "./options.js";
import type { WayOutcome } from "./result.js";

export interface RunFacts {
  readonly options: LoadOptions;
  readonly batches: number;
  /** The server that kept the state: its name and version. */
  readonly server: string;
  readonly outcomes: readonly WayOutcome[];
  /** Differences between Redis and PostgreSQL once all batches are archived, in all ways together. */
  readonly archive: { readonly differences: number };
  readonly at: Date;
}
