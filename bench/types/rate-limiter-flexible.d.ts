/** The part of rate-limiter-flexible 11.4.0 that is measured. */

export class RateLimiterRes {
  readonly msBeforeNext: number;
}

export class RateLimiterRedis {
  constructor(options: {
    readonly storeClient: unknown;
    readonly keyPrefix?: string;
    readonly points: number;
    readonly duration: number;
    readonly inMemoryBlockOnConsumed?: number;
  });
  consume(key: string, points?: number): Promise<RateLimiterRes>;
}

export class RateLimiterUnion {
  constructor(...limiters: RateLimiterRedis[]);
  consume(key: string, points?: number): Promise<Record<string, RateLimiterRes>>;
}
