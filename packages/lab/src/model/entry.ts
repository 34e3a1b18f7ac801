/** One line of the catalogue: a model, and what is known of it. */
import type { Model } from "./model.js";
import type { Hope } from "./reach.js";

export interface Entry {
  readonly name: string;
  readonly title: string;
  readonly expect: "holds" | "broken";
  /** Where it is broken: by which rule. */
  readonly breaks?: RegExp;
  /** A long one runs when it is named, or with --all. */
  readonly long: boolean;
  readonly model: () => Model;
  readonly hope?: (model: Model) => Hope;
}
