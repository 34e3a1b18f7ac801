/** Sign-in, sign-out, and the page that leads everybody to where they belong. */
import { Hono } from "hono";
import { maxLength, minLength, object, optional, pipe, string, trim } from "valibot";
import { readBody, wantsJson } from "../body.js";
import { loginGuard } from "../login-guard.js";
import { SignInPage } from "../pages/sign-in.js";
import { closeSession, openSession } from "../session.js";
import type { PageContext, PageEnv, Site } from "../site.js";

const Login = object({
  number: pipe(string(), trim(), minLength(1), maxLength(32)),
  password: pipe(string(), minLength(1), maxLength(200)),
});
const Numbered = object({ number: optional(pipe(string(), trim()), "") });

export function signInRoutes(site: Site): Hono<PageEnv> {
  const routes = new Hono<PageEnv>();
  routes.get("/", (context) => {
    const student = context.get("student");
    if (student) return context.redirect(homeOf(student.role), 303);
    const { login } = context.get("texts");
    const word = context.req.query("said");
    const good = word === "signed-out" ? login.signedOut : undefined;
    const bad = word === "needed" ? login.needed : undefined;
    return context.html(<SignInPage context={context} good={good} bad={bad} />);
  });
  const { address, account } = loginGuard(site.hf, { trust: site.trust, numberOf, refusal });
  routes.post("/login", address, account, signIn);
  routes.post("/logout", (context) => {
    closeSession(context);
    return wantsJson(context) ? context.json({ ok: true }) : context.redirect("/?said=signed-out", 303);
  });
  return routes;
}

async function signIn(context: PageContext): Promise<Response> {
  const { number, password } = await readBody(context, Login);
  const student = await context.get("site").dormitory.students.verify(number, password);
  if (!student) {
    const bad = context.get("texts").login.wrong;
    if (wantsJson(context)) return context.json({ error: "wrong" }, 401);
    return context.html(<SignInPage context={context} number={number} bad={bad} />, 401);
  }
  await openSession(context, student);
  if (wantsJson(context)) return context.json({ id: student.id, role: student.role });
  return context.redirect(homeOf(student.role), 303);
}

function homeOf(role: "student" | "admin"): string {
  return role === "admin" ? "/admin" : "/me";
}

async function numberOf(context: PageContext): Promise<string> {
  return (await readBody(context, Numbered)).number;
}

async function refusal(context: PageContext, retryAfterMs: number) {
  if (wantsJson(context))
    return { type: "application/json", body: JSON.stringify({ error: "blocked", retryAfterMs }) };
  const bad = context.get("texts").login.blocked(retryAfterMs);
  const page = await (<SignInPage context={context} number={await numberOf(context)} bad={bad} />);
  return { type: "text/html; charset=utf-8", body: String(page) };
}
