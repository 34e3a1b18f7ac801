/** The same read, check, write, one buyer at a time. */
import { Holdfast } from "holdfast";
import { PlainStock } from "./plain-stock.js";
import { type Store, type StoreOptions, WAIT_MS } from "./store.js";

export function openMutexStore(options: StoreOptions): Store {
  const holdfast = new Holdfast(options.redis, { prefix: options.prefix, label: "flash-sale" });
  const mutex = holdfast.mutex(options.stockName, { ttl: options.ttlMs });
  const stock = new PlainStock(options);
  return {
    stockUp: (units) => stock.put(units),
    sell: () => mutex.run((lease) => stock.sellOne(() => lease.check()), { wait: WAIT_MS }),
    left: () => stock.left(),
    close: () => holdfast.close(),
  };
}
