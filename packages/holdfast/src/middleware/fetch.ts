/** `holdfast/middleware/fetch`: limits and guards around a handler from Request to Response, as Deno, Bun and Next.js have them. */
import { InvalidArgumentError } from "../errors.js";
import { toResponse } from "./answer.js";
import { type HasLimits, RequestLimiter } from "./core.js";
import { type Field, writeFields } from "./fields.js";
import { checkAddressOption, type RateLimitOptions } from "./options.js";

export type FetchHandler<Rest extends readonly unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>;

export interface FetchRateLimitOptions<Rest extends readonly unknown[]> extends RateLimitOptions<Request> {
  /**
   * The address of the connected peer, because a Request does not know it. Needed where a key is "ip". Where it is null
   * or undefined, the client has hung up: its request is refused if a rule goes by the address.
   */
  readonly address?: ((request: Request, ...rest: Rest) => string | null | undefined) | undefined;
}

/**
 * Wraps a handler: `const handler = rateLimit(hf, options)(async (request) => new Response("hello"))`. The wrapped handler
 * rejects with the errors of the inner one and of your functions, and with `outage: "error"` with those of Redis.
 * @throws {InvalidArgumentError}
 */
export function rateLimit<Rest extends readonly unknown[] = []>(
  hf: HasLimits,
  options: FetchRateLimitOptions<Rest>,
): (handler: FetchHandler<Rest>) => (request: Request, ...rest: Rest) => Promise<Response> {
  checkAddressOption(options);
  const { address, ...others } = options;
  const limiter = new RequestLimiter<Request>(hf, others);
  if (address === undefined && limiter.needsAddress)
    throw new InvalidArgumentError(
      "address",
      'must say whence a request came, for the key "ip"; or give key',
    );
  return (handler) =>
    async (request, ...rest) => {
      const { answer, fields, settle } = await limiter.admit({
        method: request.method,
        address: address?.(request, ...rest) ?? null,
        header: (name) => request.headers.get(name),
        identity: request,
        raw: request,
      });
      if (answer) return withFields(toResponse(answer), fields);
      let status: number | null = 500;
      try {
        const response = await handler(request, ...rest);
        // A network error has no status. The server answers 500.
        status = response.type === "error" ? status : response.status;
        return withFields(response, fields);
      } finally {
        void settle?.(status);
      }
    };
}

function withFields(response: Response, fields: readonly Field[]): Response {
  const write = (to: Response): Response => {
    writeFields(
      fields,
      (name) => to.headers.get(name),
      (name, value) => to.headers.set(name, value),
    );
    return to;
  };
  try {
    return write(response);
  } catch {
    // The headers of a fetched response cannot be changed, so a copy is sent. A network error, and a switch of protocols,
    // cannot be copied and goes on as it is.
    const isCopyable = response.status >= 200 && response.status <= 599;
    return isCopyable ? write(new Response(response.body, response)) : response;
  }
}
