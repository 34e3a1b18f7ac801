/**
 * The fenced sale, with its lock on several servers. These servers vote on the holder; the stock is on a server of its own, and
 * its record refuses the write of an overtaken holder by the fence that the vote gave.
 */
import { Holdfast } from "holdfast";
import { Redlock } from "holdfast/redlock";
import { FencedStock } from "./fenced-stock.js";
import { type Store, type StoreOptions, WAIT_MS } from "./store.js";

export async function openRedlockStore(options: StoreOptions): Promise<Store> {
  const { prefix, ttlMs, stockName } = options;
  const redlock = new Redlock(options.lockClients, {
    prefix,
    label: "flash-sale",
    // A server that has just started does not vote for a minute, because it may have forgotten a lease. The embedded servers of
    // this run have just started, but none of them can have had a lease before.
    quarantine: 0,
  });
  const holdfast = new Holdfast(options.redis, { prefix, label: "flash-sale" });
  const mutex = redlock.mutex(stockName, { ttl: ttlMs });
  const stock = new FencedStock(holdfast, options);
  await redlock.nodes(); // Opens the connections before the first buyer comes.
  return {
    stockUp: (units) => mutex.run((lease) => stock.put(units, lease), { wait: WAIT_MS }),
    sell: () => mutex.run((lease) => stock.sellOne(lease), { wait: WAIT_MS }),
    left: () => stock.left(),
    close: async () => {
      await redlock.close();
      await holdfast.close();
    },
  };
}
