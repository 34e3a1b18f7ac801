/** Space: the states that a model can reach, as the explorer left them. */
import type { Layout } from "./layout.js";
import type { Store } from "./store.js";

export interface Space {
  readonly layout: Layout;
  readonly store: Store;
}
