/** The mutex, and a stock that refuses the write of an overtaken holder. */
import { Holdfast } from "holdfast";
import { FencedStock } from "./fenced-stock.js";
import { type Store, type StoreOptions, WAIT_MS } from "./store.js";

export function openFencedStore(options: StoreOptions): Store {
  const holdfast = new Holdfast(options.redis, { prefix: options.prefix, label: "flash-sale" });
  const mutex = holdfast.mutex(options.stockName, { ttl: options.ttlMs });
  const stock = new FencedStock(holdfast, options);
  return {
    stockUp: (units) => mutex.run((lease) => stock.put(units, lease), { wait: WAIT_MS }),
    sell: () => mutex.run((lease) => stock.sellOne(lease), { wait: WAIT_MS }),
    left: () => stock.left(),
    close: () => holdfast.close(),
  };
}
