/** `holdfast/middleware/hono`: limits and guards for Hono. */
import { InvalidArgumentError } from "../errors.js";
import { type HasLimits, RequestLimiter } from "./core.js";
import { writeFields } from "./fields.js";
import type { RateLimitOptions } from "./options.js";

/** A Context, as far as it is needed. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request };
  readonly env: unknown;
  readonly res: Response;
  header(name: string, value: string): void;
}

export interface HonoRateLimitOptions<Context> extends RateLimitOptions<Context> {
  /** The address of the one that is connected. @default what `@hono/node-server` knows */
  readonly address?: ((context: Context) => string | null | undefined) | undefined;
}

export type HonoMiddleware<Context> = (
  context: Context,
  next: () => Promise<void>,
) => Promise<Response | void>;

/**
 * A middleware that lets a request on, or answers it itself. Errors are Hono's to handle: with `outage: "error"` those
 * of Redis.
 * @throws {InvalidArgumentError}
 */
export function rateLimit<Context extends HonoContextLike = HonoContextLike>(
  hf: HasLimits,
  options: HonoRateLimitOptions<Context>,
): HonoMiddleware<Context> {
  const { address = nodeAddress, ...others } = options;
  if (typeof address !== "function") throw new InvalidArgumentError("address", "must be a function");
  const limiter = new RequestLimiter<Context>(hf, others);
  return async (context, next) => {
    const request = context.req.raw;
    const { answer, fields, settle } = await limiter.admit({
      method: request.method,
      address: address(context) ?? null,
      header: (name) => request.headers.get(name),
      identity: request,
      raw: context,
    });
    if (answer) {
      const headers = new Headers(answer.headers);
      writeFields(
        fields,
        (name) => headers.get(name),
        (name, value) => headers.set(name, value),
      );
      return new Response(answer.body, { status: answer.status, headers });
    }
    let status: number | null = 500;
    try {
      await next();
      status = context.res.status;
    } finally {
      void settle?.(status);
    }
    writeFields(
      fields,
      (name) => context.res.headers.get(name),
      (name, value) => context.header(name, value),
    );
    return undefined;
  };
}

function nodeAddress({ env }: HonoContextLike): string | null {
  const { incoming } = (env ?? {}) as {
    readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
  };
  return incoming?.socket?.remoteAddress ?? null;
}
