/** No lock: two buyers read the same number, both write the same number less one, and one piece is sold twice. */
import { PlainStock } from "./plain-stock.js";
import type { Store, StoreOptions } from "./store.js";

export function openUnlockedStore(options: StoreOptions): Store {
  const stock = new PlainStock(options);
  return {
    stockUp: (units) => stock.put(units),
    sell: () => stock.sellOne(),
    left: () => stock.left(),
    close: async () => {},
  };
}
