/**
 * Guards the sign-in. An account has five wrong passwords in a quarter of an hour, from all addresses together. An address
 * that goes on failing is kept out, longer each time. Right passwords cost nothing, because a whole dormitory may sign in
 * from one address. Both count the number that was typed, whether or not there is such a student: the answer does not tell.
 */
import type { Holdfast } from "holdfast";
import { rateLimit } from "holdfast/middleware/hono";
import type { PageContext, PageMiddleware } from "./site.js";

export interface LoginGuardOptions {
  /** Number of proxies in front whose `X-Forwarded-For` is believed. */
  readonly trust: number | false;
  readonly numberOf: (context: PageContext) => Promise<string>;
  /** The body for a person or a program that has to wait. */
  readonly refusal: (
    context: PageContext,
    retryAfterMs: number,
  ) => Promise<{ readonly type: string; readonly body: string }>;
}

const WRONG = 401;
/** Passwords are in PostgreSQL, so people sign in while Redis is away, guarded by each server alone. */
const withoutRedis = { outage: "local", timeout: "500ms" } as const;

export function loginGuard(
  hf: Holdfast,
  options: LoginGuardOptions,
): { readonly address: PageMiddleware; readonly account: PageMiddleware } {
  const { trust, numberOf, refusal } = options;
  const failures = hf.guard("dormitory-login-failures", {
    hits: 20,
    per: "10m",
    penalties: [
      { kind: "postpone", for: "30s" },
      { kind: "postpone", for: "15m" },
      { kind: "refuse", for: "1h" },
    ],
    decay: "1d",
    ...withoutRedis,
  });
  const wrong = hf.limit("dormitory-wrong-passwords", {
    max: 5,
    per: "15m",
    type: "sliding",
    ...withoutRedis,
    // Two of the five in each server: the share is rounded down, and none would keep everybody out.
    localShare: 0.4,
  });
  const common = {
    trust,
    headers: false as const,
    answer: async (
      usual: { readonly status: number; readonly headers: Readonly<Record<string, string>> },
      { request, retryAfterMs }: { readonly request: PageContext; readonly retryAfterMs: number | null },
    ) => {
      const { type, body } = await refusal(request, retryAfterMs ?? 0);
      return { status: usual.status, headers: { ...usual.headers, "content-type": type }, body };
    },
  };
  return {
    address: rateLimit<PageContext>(hf, {
      ...common,
      guard: { guard: failures, route: "login", count: ({ status }) => status === WRONG },
    }),
    account: rateLimit<PageContext>(hf, {
      ...common,
      limits: { limit: wrong, key: numberOf, count: ({ status }) => status === WRONG },
    }),
  };
}
