/** `holdfast/middleware/express`: limits and guards for Express, Connect, and Node's own server. */
import { type Admission, type HasLimits, RequestLimiter } from "./core.js";
import { writeFields } from "./fields.js";
import { headerText, incomingOf, type NodeRequest, type NodeResponse, whenAnswered } from "./node.js";
import type { RateLimitOptions } from "./options.js";

export type ExpressHandler<Req extends NodeRequest> = (
  request: Req,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * A middleware that lets a request on, or answers it itself. Errors go to `next`: with `outage: "error"` those of Redis.
 * @throws {InvalidArgumentError}
 */
export function rateLimit<Req extends NodeRequest = NodeRequest>(
  hf: HasLimits,
  options: RateLimitOptions<Req>,
): ExpressHandler<Req> {
  const limiter = new RequestLimiter<Req>(hf, options);
  return (request, response, next) => {
    limiter.admit(incomingOf(request, request)).then(
      (admission) => {
        if (write(response, admission)) next();
      },
      (error: unknown) => next(error),
    );
  };
}

/** Whether the request goes on. What has been answered meanwhile, by a time limit for one, is left alone. */
function write(response: NodeResponse, { answer, fields, settle }: Admission): boolean {
  if (!response.headersSent) {
    writeFields(
      fields,
      (name) => headerText(response.getHeader(name)),
      (name, value) => response.setHeader(name, value),
    );
    if (answer) {
      response.statusCode = answer.status;
      for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
      response.end(answer.body);
    }
  }
  if (settle) whenAnswered(response, (status) => void settle(status));
  return answer === null;
}
