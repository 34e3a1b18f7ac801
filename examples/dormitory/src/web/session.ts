/** Sessions: who has signed in, in a signed cookie. */
import { deleteCookie, getSignedCookie, setSignedCookie } from "hono/cookie";
import { literal, nullable, number, object, picklist, safeParse, string } from "valibot";
import type { Student } from "../domain/student.js";
import type { PageContext } from "./site.js";

const NAME = "dormitory";
/** The signature covers the value, not the name of the cookie: the purpose is in the value, so that no other cookie passes for this one. */
const PURPOSE = "session";
const LIFE_S = 12 * 3_600;

const Session = object({
  for: literal(PURPOSE),
  untilMs: number(),
  id: string(),
  name: string(),
  role: picklist(["student", "admin"]),
  batchId: nullable(string()),
});

/** The student as of the sign-in. Null: no session, an expired one, or one that somebody changed. */
export async function sessionOf(context: PageContext): Promise<Student | null> {
  const { secret, clock } = context.get("site");
  const value = await getSignedCookie(context, secret, NAME);
  if (!value) return null;
  const parsed = safeParse(Session, decode(value));
  if (!parsed.success || parsed.output.untilMs <= clock.nowMs()) return null;
  const { id, name, role, batchId } = parsed.output;
  return { id, name, role, batchId };
}

export async function openSession(context: PageContext, student: Student): Promise<void> {
  const { secret, clock, publicUrl } = context.get("site");
  const { id, name, role, batchId } = student;
  const untilMs = clock.nowMs() + LIFE_S * 1_000;
  const text = JSON.stringify({ for: PURPOSE, untilMs, id, name, role, batchId });
  await setSignedCookie(context, NAME, Buffer.from(text).toString("base64url"), secret, {
    httpOnly: true,
    sameSite: "Lax",
    path: "/",
    maxAge: LIFE_S,
    secure: publicUrl?.startsWith("https:") ?? false,
  });
}

export function closeSession(context: PageContext): void {
  deleteCookie(context, NAME, { path: "/" });
}

function decode(value: string): unknown {
  try {
    return JSON.parse(Buffer.from(value, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}
