/** What larger programs do with the types of rate-limiter-flexible: options that grow, classes of their own, parts in between. */
import { Redis } from "ioredis";
import {
  type IRateLimiterOptions,
  type IRateLimiterQueueOpts,
  type IRateLimiterRedisOptions,
  type IRateLimiterRes,
  type IRateLimiterStoreOptions,
  type IRLWrapperBlackAndWhiteOptions,
  RateLimiterAbstract,
  RateLimiterCompatibleAbstract,
  type RateLimiterInsuredAbstract,
  type RateLimiterLike,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
  RateLimiterStoreAbstract,
  RLWrapperBlackAndWhite,
} from "rate-limiter-flexible";

const storeClient = new Redis();

export function optionsOf(name: string | null): IRateLimiterRedisOptions {
  const common: IRateLimiterOptions = { points: 1, duration: 1 };
  common.points = 5;
  common.duration = 60;
  common.blockDuration = 10;
  common.execEvenly = true;
  common.execEvenlyMinDelayMs = 20;
  common.insuranceLimiter = new RateLimiterMemory({ points: 1, duration: 1 });
  if (name) common.keyPrefix = name;
  const store: IRateLimiterStoreOptions = { ...common, storeClient };
  store.storeType = "ioredis";
  store.dbName = "limits";
  store.tableName = "limits";
  store.tableCreated = true;
  store.inMemoryBlockOnConsumed = 6;
  store.inMemoryBlockDuration = 10;
  store.blockOnConsumed = 7;
  const redis: IRateLimiterRedisOptions = store;
  redis.rejectIfRedisNotReady = true;
  return redis;
}

/** A limiter that another decides for. */
class Doubled extends RateLimiterAbstract {
  readonly inner: RateLimiterAbstract;

  constructor(inner: RateLimiterAbstract, options: IRateLimiterOptions) {
    super(options);
    this.inner = inner;
  }

  override consume(
    key: string | number,
    points = 1,
    options: { [key: string]: unknown } = {},
  ): Promise<RateLimiterRes> {
    return this.inner.consume(this.getKey(key), 2 * points, options);
  }
}

class Compatible extends RateLimiterCompatibleAbstract {
  override async get(): Promise<RateLimiterRes | null> {
    const shown: IRateLimiterRes = { remainingPoints: 1 };
    shown.msBeforeNext = 5;
    return new RateLimiterRes(shown.remainingPoints, shown.msBeforeNext);
  }
}

export function limiterOf(name: string): RateLimiterAbstract {
  const limiter = new RateLimiterRedis(optionsOf(name));
  const insured: RateLimiterInsuredAbstract = limiter;
  const stored: RateLimiterStoreAbstract = limiter;
  stored.deleteInMemoryBlockedAll();
  stored.points += stored.blockOnConsumed;
  console.log(insured.msDuration + insured.msBlockDuration, insured.parseKey(insured.getKey("a")));
  return limiter instanceof RateLimiterStoreAbstract
    ? limiter
    : new RateLimiterAbstract({ points: 1, duration: 1 });
}

export function listed(limiter: RateLimiterLike): RateLimiterCompatibleAbstract {
  const options: IRLWrapperBlackAndWhiteOptions = { limiter, whiteList: ["127.0.0.1"] };
  options.blackList = [7];
  options.isBlackListed = (key) => key === "x";
  options.runActionAnyway = false;
  const wrapper = new RLWrapperBlackAndWhite(options);
  console.log(wrapper.isWhiteListed("a"), wrapper.blackList.length);
  return wrapper;
}

/** Whatever a framework injects. */
export function injected(storeClient: unknown, options: IRateLimiterOptions): RateLimiterRedis {
  const insurance: RateLimiterLike | undefined = options.insuranceLimiter;
  console.log(insurance?.keyPrefix);
  return new RateLimiterRedis({ ...options, storeClient });
}

const most: IRateLimiterQueueOpts = {};
most.maxQueueSize = 5;
console.log(new Compatible().get(), new Doubled(limiterOf("a"), { points: 1, duration: 1 }).points);
// @ts-expect-error there is no such option
console.log(optionsOf(null).prefix);
