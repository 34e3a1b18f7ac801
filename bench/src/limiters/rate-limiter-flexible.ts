import { RateLimiterRedis, RateLimiterRes, RateLimiterUnion } from "rate-limiter-flexible";
import { connect } from "../contestants/client.js";
import type { Check, CheckTerms, Limiter } from "./limiter.js";

type Consume = (target: string) => Promise<unknown>;

export const open = (port: number): Promise<Limiter> =>
  openWith(port, (storeClient, { max, perMs }) => {
    const limiter = new RateLimiterRedis({ storeClient, points: max, duration: perMs / 1_000 });
    return (target) => limiter.consume(target);
  });

/** Whoever is over the limit is refused by the process until the window ends. */
export const openBlock = (port: number): Promise<Limiter> =>
  openWith(port, (storeClient, { max, perMs }) => {
    const terms = { points: max, duration: perMs / 1_000, inMemoryBlockOnConsumed: max };
    const limiter = new RateLimiterRedis({ storeClient, ...terms });
    return (target) => limiter.consume(target);
  });

/** Three limits at once; what one refuses, the others have charged. */
export const openUnion = (port: number): Promise<Limiter> =>
  openWith(port, (storeClient, { max, perMs }) => {
    const limiters = ["one", "two", "three"].map(
      (keyPrefix) => new RateLimiterRedis({ storeClient, keyPrefix, points: max, duration: perMs / 1_000 }),
    );
    const union = new RateLimiterUnion(...limiters);
    return (target) => union.consume(target);
  });

async function openWith(
  port: number,
  consume: (storeClient: unknown, terms: CheckTerms) => Consume,
): Promise<Limiter> {
  const client = await connect(port);
  return {
    check: (terms) => admittedBy(consume(client, terms)),
    close: async () => client.disconnect(),
  };
}

/** It rejects with a result where it refuses, and with an error where it failed. */
function admittedBy(consume: Consume): Check {
  return async (target) => {
    try {
      await consume(target);
      return true;
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return false;
      throw refusal;
    }
  };
}
