/**
 * The mutex, and a ledger that does not take its word for it: the stock is a guarded record that refuses the
 * write of a holder whose lease has passed on. The only file that knows the library's guarded records.
 */
import { Holdfast } from "holdfast";
import { type Store, type StoreOptions, stockKeyOf, WAIT_MS } from "./store.js";

export function openFencedStore(options: StoreOptions): Store {
  const holdfast = new Holdfast(options.redis, { prefix: options.prefix, label: "flash-sale" });
  const mutex = holdfast.mutex(options.stockName, { ttlMs: options.ttlMs });
  const ledger = holdfast.fencedRecord(stockKeyOf(options));

  const left = async (): Promise<number> => Number((await ledger.read())?.value ?? 0);
  return {
    stockUp: (units) => mutex.run((lease) => ledger.write(lease, String(units)), { waitMs: WAIT_MS }),
    sell: () =>
      mutex.run(
        async (lease) => {
          // Entering before the first read shuts out every earlier holder, so that what is read here stays true.
          await ledger.enter(lease);
          const unitsLeft = await left();
          await options.whileHeld?.(unitsLeft);
          if (unitsLeft <= 0) return { sold: false, left: 0 };
          await ledger.write(lease, String(unitsLeft - 1));
          return { sold: true, left: unitsLeft - 1 };
        },
        { waitMs: WAIT_MS },
      ),
    left,
    close: () => holdfast.close(),
  };
}
