/** The student's own page: wishes, team, invitations. */
import { Hono } from "hono";
import {
  array,
  maxLength,
  minLength,
  object,
  optional,
  pipe,
  regex,
  string,
  transform,
  trim,
  union,
} from "valibot";
import type { Student } from "../../domain/student.js";
import type { TeamResult, WishesResult } from "../../domain/team.js";
import { studentOf } from "../access.js";
import { readBody, wantsJson } from "../body.js";
import { HomePage, type HomeProps } from "../pages/home.js";
import { Refused } from "../refused.js";
import { refusalText, saidOf } from "../said.js";
import { openSession } from "../session.js";
import type { PageContext, PageEnv } from "../site.js";
import { changed, changeOf, type WishChange } from "../wish-change.js";

const Id = pipe(string(), maxLength(100));
/** A field that a form has once, several times or not at all. */
const Ids = optional(
  union([
    pipe(array(Id), maxLength(100)),
    pipe(
      Id,
      transform((id) => [id]),
    ),
  ]),
  [],
);
const WishForm = object({
  version: pipe(string(), regex(/^\d{1,20}$/)),
  seen: Ids,
  change: optional(Id, "set"),
  room: optional(Id, ""),
  wishes: Ids,
});
const Invite = object({ number: pipe(string(), trim(), minLength(1), maxLength(32)) });
const Answer = object({ invitation: Id });

export function teamRoutes(): Hono<PageEnv> {
  const routes = new Hono<PageEnv>();
  routes.get("/me", (context) => home(context));
  routes.post("/me/wishes", changeWishes);
  routes.post("/team/invite", async (context) => {
    const student = studentOf(context);
    const { number } = await readBody(context, Invite);
    return toldTeam(context, await teamsOf(context).invite(student, number), "invited");
  });
  routes.post("/team/accept", async (context) => {
    const student = studentOf(context);
    const { invitation } = await readBody(context, Answer);
    return toldTeam(context, await teamsOf(context).accept(student, invitation), "accepted");
  });
  routes.post("/team/refuse", async (context) => {
    const student = studentOf(context);
    const { invitation } = await readBody(context, Answer);
    return toldTeam(context, await teamsOf(context).refuse(student, invitation), "refused");
  });
  routes.post("/team/leave", async (context) => {
    const student = studentOf(context);
    return toldTeam(context, await teamsOf(context).leave(student), "left");
  });
  return routes;
}

function teamsOf(context: PageContext) {
  return context.get("site").dormitory.teams;
}

async function home(
  context: PageContext,
  more: Pick<HomeProps, "conflict" | "bad"> = {},
  status: 200 | 409 = 200,
): Promise<Response> {
  const student = await presentStudent(context);
  const { dormitory, rooms } = context.get("site");
  const { batchId } = student;
  const [batch, team, list, ticket] = await Promise.all([
    batchId === null ? null : dormitory.batches.get(batchId),
    dormitory.teams.of(student),
    batchId === null ? [] : rooms.of(batchId),
    dormitory.selection.ticket(student),
  ]);
  if (wantsJson(context))
    return context.json({ student, batch: batch && { ...batch, version: `${batch.version}` }, team });
  const said = saidOf(context);
  return context.html(
    <HomePage context={context} {...{ student, batch, team, rooms: list, ticket }} {...said} {...more} />,
    status,
  );
}

/** The student as of now. An administrator may have moved the student into another batch since the sign-in. */
async function presentStudent(context: PageContext): Promise<Student> {
  const known = studentOf(context);
  const student = await context.get("site").dormitory.students.find(known.id);
  if (!student) throw new Refused(401, "signIn");
  if (student.batchId !== known.batchId || student.name !== known.name) await openSession(context, student);
  return student;
}

async function changeWishes(context: PageContext): Promise<Response> {
  const student = studentOf(context);
  const { version, seen, change: word, room, wishes } = await readBody(context, WishForm);
  const change = changeOf(word, room, wishes);
  if (!change) throw new Refused(400, "invalid");
  const result = await teamsOf(context).setWishes(student, changed(seen, change), version);
  if (wantsJson(context)) return context.json(result, result.ok ? 200 : 409);
  if (result.ok) return context.redirect(`/me?said=${change.kind === "add" ? "added" : "saved"}`, 303);
  return refusedWishes(context, result, { seen, change });
}

function refusedWishes(
  context: PageContext,
  { reason }: Extract<WishesResult, { ok: false }>,
  conflict: { readonly seen: readonly string[]; readonly change: WishChange },
): Promise<Response> {
  if (reason === "stale") return home(context, { conflict }, 409);
  return home(context, { bad: refusalText(context, reason) }, 409);
}

/** The result of a change of the team. The page is another request, so that to reload it repeats nothing. */
function toldTeam(
  context: PageContext,
  result: TeamResult,
  said: "invited" | "accepted" | "refused" | "left",
): Response {
  if (wantsJson(context)) return context.json(result, result.ok ? 200 : 409);
  return context.redirect(result.ok ? `/me?said=${said}` : `/me?refused=${result.reason}`, 303);
}
