/** The part of @upstash/ratelimit 2.2.0 that is measured, and what it asks of its client. */

interface Client {
  evalsha(sha: string, keys: string[], args: unknown[]): Promise<unknown>;
  eval(script: string, keys: string[], args: unknown[]): Promise<unknown>;
}

export class Ratelimit {
  constructor(options: { readonly redis: Client; readonly limiter: unknown });
  static slidingWindow(tokens: number, window: `${number} s`): unknown;
  limit(identifier: string): Promise<{ readonly success: boolean }>;
}
