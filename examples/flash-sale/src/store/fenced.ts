/**
 * The mutex, and a ledger that does not take its word for it: the stock is a fenced record, which refuses the write of
 * a holder that a later one has followed. The only file that knows the library's fenced records.
 */
import { type FencedRecord, Holdfast, type Lease } from "holdfast";
import { epochMs } from "../clock.js";
import { KEY_LIFE_S, type Sale, type Store, type StoreOptions, WAIT_MS } from "./store.js";

export function openFencedStore(options: StoreOptions): Store {
  const holdfast = new Holdfast(options.redis, { prefix: options.prefix, label: "flash-sale" });
  const mutex = holdfast.mutex(options.stockName, { ttl: options.ttlMs });
  const ledger = holdfast.fencedRecord(options.stockName);

  return {
    stockUp: async (units) => {
      await mutex.run((lease) => ledger.write(lease, String(units)), { wait: WAIT_MS });
      // A fenced record has no expiry of its own: it must outlive every holder. None of this sale lives that long.
      await options.redis.expire(ledger.key, KEY_LIFE_S);
    },
    sell: () => mutex.run((lease) => sellOne(ledger, lease, options), { wait: WAIT_MS }),
    left: async () => Number((await ledger.read()).value),
    close: () => holdfast.close(),
  };
}

/** Entering shuts out every earlier holder and reads in one step, so that what was read stays true until the write. */
async function sellOne(ledger: FencedRecord, lease: Lease, { whileHeld }: StoreOptions): Promise<Sale> {
  const left = Number(await ledger.enter(lease));
  await whileHeld?.(left);
  if (left <= 0) return { sold: false, left: 0, atMs: epochMs() };
  await ledger.write(lease, String(left - 1));
  return { sold: true, left: left - 1, atMs: epochMs() };
}
