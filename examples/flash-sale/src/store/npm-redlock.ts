/** The plain stock under npm redlock, on the same servers as Redlock. It has no fence, so an overtaken holder can still write. */
import { setTimeout as sleep } from "node:timers/promises";
import NpmRedlock from "redlock5";
import { LEAST_PAUSE_MS, MOST_PAUSE_MS } from "./npm-redlock-settings.js";
import { PlainStock } from "./plain-stock.js";
import { type Sale, type Store, type StoreOptions, WAIT_MS } from "./store.js";

/** `using` extends the lock this long before its end, in ms: the default of npm redlock, unless the lease is short. */
const EXTENSION_THRESHOLD_MS = 500;

export function openNpmRedlockStore(options: StoreOptions): Store {
  const redlock = new NpmRedlock(options.lockClients, {
    automaticExtensionThreshold: Math.min(EXTENSION_THRESHOLD_MS, options.ttlMs / 4),
  });
  const stock = new PlainStock(options);
  return {
    stockUp: (units) => stock.put(units),
    sell: () => sellOne(redlock, stock, options),
    left: () => stock.left(),
    close: async () => {},
  };
}

/**
 * Repeats the attempt here instead of in npm redlock. Between its own retries npm redlock (5.0.0-beta.2) keeps the votes that a failed
 * attempt got. When buyers split the votes, all of them then wait until the votes expire. Without a retry it gives the votes back.
 */
async function sellOne(
  redlock: NpmRedlock,
  stock: PlainStock,
  { prefix, stockName, ttlMs }: StoreOptions,
): Promise<Sale> {
  const resources = [`${prefix}:lock:${stockName}`];
  const giveUpAtMs = performance.now() + WAIT_MS;
  for (;;) {
    let acquired = false;
    try {
      return await redlock.using(resources, ttlMs, { retryCount: 0 }, (signal) => {
        acquired = true;
        return stock.sellOne(() => {
          if (signal.aborted) throw signal.error;
        });
      });
    } catch (error) {
      if (acquired || performance.now() >= giveUpAtMs) throw error;
    }
    await sleep(LEAST_PAUSE_MS + Math.random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS));
  }
}
