/** The options of RateLimiterRedis, and those that holdfast cannot honour. */
import { NotPortedError } from "../not-ported-error.js";
import type { IRateLimiterOptions } from "./rate-limiter-abstract.js";

export interface IRateLimiterStoreOptions extends IRateLimiterOptions {
  /** A client of any library that holdfast supports. Another one is refused when the limiter is made. */
  // biome-ignore lint/suspicious/noExplicitAny: as in the original, whose programs pass it on under types of their own
  storeClient: any;
  /** The count from which this process refuses a key without a call to Redis; at least `points`. @default 0, none */
  inMemoryBlockOnConsumed?: number;
  /** For how many seconds. @default until the key expires */
  inMemoryBlockDuration?: number;
  /** The count from which `blockDuration` applies; at least `points`. @default more than `points` */
  blockOnConsumed?: number;
  /** Has no effect, like the next three: there is one kind of store. */
  storeType?: string;
  dbName?: string;
  tableName?: string;
  tableCreated?: boolean;
}

export interface IRateLimiterRedisOptions extends IRateLimiterStoreOptions {
  /** Has no effect: a call waits for the first connection for at most `callTimeout`, and is rejected at once after a loss. */
  rejectIfRedisNotReady?: boolean;
  /** Has no effect: the library of the client is recognised. */
  useRedisPackage?: boolean;
  /** Not ported: it throws. */
  useRedis3AndLowerPackage?: boolean;
  /** Not ported: it throws. */
  customIncrTtlLuaScript?: string;
}

/** @throws {NotPortedError} */
export function checkPorted({
  customIncrTtlLuaScript,
  useRedis3AndLowerPackage,
}: IRateLimiterRedisOptions): void {
  if (customIncrTtlLuaScript)
    throw new NotPortedError(
      "customIncrTtlLuaScript is not ported, because the script is holdfast's: for blocks that grow with each strike use hf.guard(name, { hits, per, penalties })",
    );
  if (useRedis3AndLowerPackage)
    throw new NotPortedError(
      "useRedis3AndLowerPackage is not ported: holdfast supports node-redis from version 4 on, and recognises it by itself",
    );
}
