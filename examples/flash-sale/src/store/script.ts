/** The yardstick: what must be done in one step fits in one script here, so no lock is needed at all. */
import { epochMs } from "../clock.js";
import { KEY_LIFE_S, type Store, type StoreOptions, stockKeyOf } from "./store.js";

/** KEYS[1] the stock. Returns what is left, or -1 when there was none. */
const SELL_ONE = `
local stock = KEYS[1]
if tonumber(redis.call('GET', stock) or '0') <= 0 then
  return -1
end
return redis.call('DECR', stock)
`;

export async function openScriptStore(options: StoreOptions): Promise<Store> {
  const { redis } = options;
  const stockKey = stockKeyOf(options);
  const sellOneSha = String(await redis.script("LOAD", SELL_ONE));
  return {
    stockUp: async (units) => {
      await redis.set(stockKey, units, "EX", KEY_LIFE_S);
    },
    sell: async () => {
      const left = Number(await redis.evalsha(sellOneSha, 1, stockKey));
      return { sold: left >= 0, left: Math.max(left, 0), atMs: epochMs() };
    },
    left: async () => Number(await redis.get(stockKey)),
    close: async () => {},
  };
}
