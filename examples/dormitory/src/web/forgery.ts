/** Requests that change something must come from a page of this site: another site cannot send what is asked for here. */
import { csrf } from "hono/csrf";
import { Refused } from "./refused.js";
import type { PageContext, PageMiddleware } from "./site.js";

/** Programs that send JSON send this field as well. A form of another site cannot. */
const OWN_FIELD = "x-dormitory";

const form = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i;
const json = /^application\/json\b/i;

/** Forms go by their origin, JSON by a field of its own as well; everything else is not understood. */
export function onlyOwnRequests(): PageMiddleware {
  const ownForms = csrf({
    origin: (origin, context) => isOwn(origin, context as PageContext),
  });
  return async (context, next) => {
    if (["GET", "HEAD"].includes(context.req.method)) return next();
    const type = context.req.header("content-type") ?? "";
    if (form.test(type)) return ownForms(context, next);
    if (!json.test(type)) throw new Refused(415, "unsupported");
    const site = context.req.header("sec-fetch-site");
    const origin = context.req.header("origin");
    const isForeign =
      (site !== undefined && site !== "same-origin") || (origin !== undefined && !isOwn(origin, context));
    if (isForeign || context.req.header(OWN_FIELD) !== "1") throw new Refused(403, "forged");
    return next();
  };
}

/** The scheme is left out: behind a proxy that ends TLS the request says http. */
function isOwn(origin: string, context: PageContext): boolean {
  const { publicUrl } = context.get("site");
  if (publicUrl !== null) return origin === new URL(publicUrl).origin;
  const host = context.req.header("host") ?? new URL(context.req.url).host;
  return URL.canParse(origin) && new URL(origin).host === host;
}
