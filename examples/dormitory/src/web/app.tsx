/** The application: every page and every form, as one `fetch`. */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { getCookie, setCookie } from "hono/cookie";
import { HTTPException } from "hono/http-exception";
import { NONCE, secureHeaders } from "hono/secure-headers";
import { Unreachable } from "../domain/unreachable.js";
import { wantsJson } from "./body.js";
import { onlyOwnRequests } from "./forgery.js";
import { AwayPage, FailedPage, RefusedPage } from "./pages/trouble.js";
import { Refused } from "./refused.js";
import { adminRoutes } from "./routes/admin.js";
import { importRoutes } from "./routes/imports.js";
import { selectionRoutes } from "./routes/selection.js";
import { signInRoutes } from "./routes/sign-in.js";
import { teamRoutes } from "./routes/team.js";
import { sessionOf } from "./session.js";
import type { PageContext, PageEnv, PageMiddleware, Site } from "./site.js";
import { isLanguage, languageOf, textsOf } from "./texts/texts.js";

const FORM_BYTES = 32 * 1024;
/** Files of an import: 4,000 students are about 200 kB. */
const IMPORT_BYTES = 2 * 1024 * 1024;
const YEAR_S = 365 * 86_400;
const RETRY_S = "2";

export function makeApp(site: Site): Hono<PageEnv> {
  const app = new Hono<PageEnv>();
  app.get("/assets/:name", (context) => {
    const asset = site.assets.file(context.req.param("name"));
    if (!asset) return context.text("not found", 404);
    context.header("content-type", asset.type);
    context.header("cache-control", "public, max-age=31536000, immutable");
    context.header("x-content-type-options", "nosniff");
    return context.body(asset.body);
  });
  app.use(headers(site), about(site), limitBody(), onlyOwnRequests());
  app.route("/", signInRoutes(site));
  app.route("/", teamRoutes());
  app.route("/", selectionRoutes());
  app.route("/", adminRoutes());
  app.route("/", importRoutes());
  app.notFound((context) => refuse(context as PageContext, new Refused(404, "missing")));
  app.onError((error, context) => answerTo(error, context as PageContext));
  return app;
}

function headers({ publicUrl }: Site): PageMiddleware {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'", NONCE],
      styleSrc: ["'self'", NONCE],
      imgSrc: ["'self'", "data:"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    referrerPolicy: "same-origin",
    xFrameOptions: "DENY",
    strictTransportSecurity: publicUrl?.startsWith("https:") ? "max-age=15552000" : false,
  });
}

/** What every page knows: the parts of the site, the language, and who has signed in. */
function about(site: Site): PageMiddleware {
  return async (context, next) => {
    context.set("site", site);
    const asked = context.req.query("lang");
    if (isLanguage(asked))
      setCookie(context, "lang", asked, { path: "/", maxAge: YEAR_S, sameSite: "Lax", httpOnly: true });
    const language = isLanguage(asked)
      ? asked
      : languageOf(getCookie(context, "lang"), context.req.header("accept-language"));
    context.set("language", language);
    context.set("texts", textsOf(language));
    context.set("student", await sessionOf(context));
    context.header("vary", "Accept-Language, Cookie, Accept");
    context.header("cache-control", "no-store");
    await next();
  };
}

function limitBody(): PageMiddleware {
  const onError = (): never => {
    throw new Refused(413, "tooLarge");
  };
  const forms = bodyLimit({ maxSize: FORM_BYTES, onError });
  const imports = bodyLimit({ maxSize: IMPORT_BYTES, onError });
  return (context, next) => (context.req.path.endsWith("/import") ? imports : forms)(context, next);
}

function answerTo(error: Error, context: PageContext): Response | Promise<Response> {
  if (error instanceof Refused) return refuse(context, error);
  if (error instanceof HTTPException && error.status === 403)
    return refuse(context, new Refused(403, "forged"));
  const happened = error instanceof Unreachable ? error.happened : isLate(error) ? "unknown" : null;
  if (happened !== null) {
    const mayHaveHappened = happened === "unknown" && context.req.method !== "GET";
    context.header("retry-after", RETRY_S);
    if (wantsJson(context)) return context.json({ error: "away", happened }, 503);
    return context.html(<AwayPage context={context} mayHaveHappened={mayHaveHappened} />, 503);
  }
  context.get("site").log(`${context.req.method} ${context.req.path}: ${error.stack ?? error.message}`);
  if (wantsJson(context)) return context.json({ error: "failed" }, 500);
  return context.html(<FailedPage context={context} />, 500);
}

/** The archive's leader did not answer in time. The order stays until a leader takes it. */
function isLate({ name }: Error): boolean {
  return name === "TimeoutError" || name === "AbortError";
}

function refuse(context: PageContext, { status, word }: Refused): Response | Promise<Response> {
  if (wantsJson(context)) return context.json({ error: word }, status);
  if (word === "signIn") return context.redirect("/?said=needed", 303);
  const text = context.get("texts").trouble[word];
  return context.html(<RefusedPage context={context} text={text} />, status);
}
