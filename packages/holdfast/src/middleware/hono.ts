/** `holdfast/middleware/hono`: limits and guards for Hono. */
import type { Context } from "hono";
import { toResponse } from "./answer.js";
import { type HasLimits, RequestLimiter } from "./core.js";
import { writeFields } from "./fields.js";
import { type NodeRequest, type NodeResponse, peerAddress, whenAnswered } from "./node.js";
import { checkAddressOption, type Given, type RateLimitOptions } from "./options.js";

/** A Context, as far as it is needed. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request };
  readonly env: unknown;
  readonly res: Response;
  /** Whether there is a response. */
  readonly finalized: boolean;
  header(name: string, value: string): void;
}

export interface HonoRateLimitOptions<Ctx> extends RateLimitOptions<Ctx> {
  /**
   * The address of the connected peer. Where it is null or undefined, the client has hung up: its request is refused if a
   * rule goes by the address. @default the address that `@hono/node-server` knows
   */
  readonly address?: ((context: Ctx) => string | null | undefined) | undefined;
}

/** On another server than `@hono/node-server`, without the option `address`, all clients share one count. */
const NOT_NODE = "unknown";

export type HonoMiddleware<Ctx> = (context: Ctx, next: () => Promise<void>) => Promise<Response | void>;

/**
 * A middleware that lets a request on, or answers it itself. Hono handles the errors: those of your functions, and with
 * `outage: "error"` those of Redis.
 * @throws {InvalidArgumentError}
 */
export function rateLimit<Ctx extends HonoContextLike = never>(
  hf: HasLimits,
  options: HonoRateLimitOptions<Given<Ctx, Context>>,
): HonoMiddleware<Given<Ctx, HonoContextLike>> {
  checkAddressOption(options);
  const { address = nodeAddress, ...others } = options;
  const limiter = new RequestLimiter(hf, others);
  return async (context, next) => {
    const raw = context as Given<Ctx, Context>;
    const request = context.req.raw;
    const { answer, fields, settle } = await limiter.admit({
      method: request.method,
      address: address(raw) ?? null,
      header: (name) => request.headers.get(name),
      identity: request,
      raw,
    });
    if (answer) {
      const response = toResponse(answer);
      writeFields(
        fields,
        (name) => response.headers.get(name),
        (name, value) => response.headers.set(name, value),
      );
      return response;
    }
    let status = 500;
    try {
      await next();
      // Where no handler returned a response, reading `res` would make one of 200.
      if (context.finalized) status = context.res.status;
    } finally {
      const node = writtenByHandler(context);
      if (settle && node) whenAnswered(node.incoming, node.outgoing, (written) => void settle(written));
      // A network error has no status: the client receives 500, or nothing.
      else void settle?.(status === 0 ? 500 : status);
    }
    // A network error, and a switch of protocols, cannot be copied with other headers: such a response goes on as it is.
    if (status < 200) return undefined;
    writeFields(
      fields,
      (name) => context.res.headers.get(name),
      (name, value) => context.header(name, value),
    );
    return undefined;
  };
}

/** The bindings of `@hono/node-server`, which has the request in one of two places. */
interface NodeBindings {
  readonly incoming?: NodeRequest;
  readonly outgoing?: NodeResponse;
  readonly server?: Pick<NodeBindings, "incoming" | "outgoing">;
}

/** The mark of `@hono/node-server` on the response of a handler that writes to Node's own response instead. */
const ALREADY_SENT = "x-hono-already-sent";

function nodeOf({ env }: HonoContextLike): Pick<NodeBindings, "incoming" | "outgoing"> {
  const bindings = (env ?? {}) as NodeBindings;
  return bindings.incoming ? bindings : (bindings.server ?? {});
}

/** Node's own request and response, where the handler writes the response itself: only Node knows its status. */
function writtenByHandler(
  context: HonoContextLike,
): { incoming: NodeRequest; outgoing: NodeResponse } | null {
  if (!context.finalized || !context.res.headers.has(ALREADY_SENT)) return null;
  const { incoming, outgoing } = nodeOf(context);
  return incoming && outgoing ? { incoming, outgoing } : null;
}

function nodeAddress(context: HonoContextLike): string | null {
  const { incoming } = nodeOf(context);
  return incoming?.socket ? peerAddress(incoming) : NOT_NODE;
}
