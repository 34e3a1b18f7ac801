/** `holdfast/middleware/fastify`: limits and guards as a hook of Fastify. */
import type { FastifyRequest } from "fastify";
import { InvalidArgumentError } from "../errors.js";
import { OF_ANOTHER_BODY } from "./answer.js";
import { type HasLimits, RequestLimiter } from "./core.js";
import { writeFields } from "./fields.js";
import { headerText, incomingOf, type NodeRequest, type NodeResponse, whenAnswered } from "./node.js";
import type { Given, RateLimitOptions } from "./options.js";

export type { NodeRequest, NodeResponse, NodeSocket } from "./node.js";

/** A FastifyRequest, as far as it is needed. */
export interface FastifyRequestLike {
  readonly raw: NodeRequest;
}

/** A FastifyReply, as far as it is needed. */
export interface FastifyReplyLike {
  readonly raw: NodeResponse;
  readonly sent: boolean;
  getHeader(name: string): number | string | string[] | undefined;
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  code(status: number): unknown;
  send(body: string): unknown;
}

export type FastifyHook<Req extends FastifyRequestLike> = (
  request: Req,
  reply: FastifyReplyLike,
) => Promise<unknown>;

/**
 * A hook that lets a request on, or answers it itself: `app.addHook("onRequest", rateLimit(hf, …))`, or a hook of one route.
 * Keys from the body need a `preHandler`. Fastify handles the errors: those of your functions, and with `outage: "error"`
 * those of Redis.
 * @throws {InvalidArgumentError}
 */
export function rateLimit<Req extends FastifyRequestLike = never>(
  hf: HasLimits,
  options: RateLimitOptions<Given<Req, FastifyRequest>>,
): FastifyHook<Given<Req, FastifyRequestLike>> {
  const limiter = new RequestLimiter(hf, options);
  return async (request, reply) => {
    if (request.raw === undefined)
      throw new InvalidArgumentError(
        "rateLimit()",
        'is a hook: app.addHook("onRequest", …), not app.register(…)',
      );
    const { answer, fields, settle } = await limiter.admit(
      incomingOf(request.raw, request as Given<Req, FastifyRequest>),
    );
    if (settle) whenAnswered(request.raw, reply.raw, (status) => void settle(status));
    // Another hook has sent a response meanwhile. It stays as it is.
    if (reply.sent) return answer ? reply : undefined;
    writeFields(
      fields,
      (name) => headerText(reply.getHeader(name)),
      (name, value) => reply.header(name, value),
    );
    if (!answer) return undefined;
    reply.code(answer.status);
    for (const name of OF_ANOTHER_BODY) reply.removeHeader(name);
    for (const [name, value] of Object.entries(answer.headers)) reply.header(name, value);
    reply.send(answer.body);
    return reply;
  };
}
