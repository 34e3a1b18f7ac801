/** `holdfast/middleware/express`: limits and guards for Express, Connect, and Node's own server. */
// biome-ignore lint/suspicious/noTsIgnore: unlike ts-expect-error it is allowed where there is nothing to ignore
/** @ts-ignore: Connect and Node's own server need no @types/express. Where it is not installed, the type is any. */
import type { Request } from "express";
import { OF_ANOTHER_BODY } from "./answer.js";
import { type Admission, type HasLimits, RequestLimiter } from "./core.js";
import { writeFields } from "./fields.js";
import { headerText, incomingOf, type NodeRequest, type NodeResponse, whenAnswered } from "./node.js";
import type { Given, RateLimitOptions } from "./options.js";

export type { NodeRequest, NodeResponse, NodeSocket } from "./node.js";

export type ExpressHandler<Req extends NodeRequest> = (
  request: Req,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * A middleware that lets a request on, or answers it itself. Errors go to `next`, once: those of your functions, and with
 * `outage: "error"` those of Redis.
 * @throws {InvalidArgumentError}
 */
export function rateLimit<Req extends NodeRequest = never>(
  hf: HasLimits,
  options: RateLimitOptions<Given<Req, Request>>,
): ExpressHandler<Given<Req, NodeRequest>> {
  const limiter = new RequestLimiter(hf, options);
  const decide = async (request: NodeRequest, response: NodeResponse): Promise<boolean> => {
    const admission = await limiter.admit(incomingOf(request, request as Given<Req, Request>));
    return write(request, response, admission);
  };
  return (request, response, next) => {
    // An error that `next` throws does not go to `next` again, because a request goes on once.
    decide(request, response).then(
      (goesOn) => {
        if (goesOn) next();
      },
      (error: unknown) => next(error),
    );
  };
}

/** Returns whether the request goes on. Another middleware may have sent a response meanwhile, which stays as it is. */
function write(request: NodeRequest, response: NodeResponse, { answer, fields, settle }: Admission): boolean {
  if (settle) whenAnswered(request, response, (status) => void settle(status));
  if (!response.headersSent) {
    writeFields(
      fields,
      (name) => headerText(response.getHeader(name)),
      (name, value) => response.setHeader(name, value),
    );
    if (answer) {
      response.statusCode = answer.status;
      // Node gives a response no length of its own once that header was removed, and closes the connection.
      for (const name of OF_ANOTHER_BODY)
        if (response.getHeader(name) !== undefined) response.removeHeader(name);
      for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
      response.end(answer.body);
    }
  }
  return answer === null;
}
