/** Countdown, choice by wishes and by hand, regret, the ticket and its stream of events. */
import { createHash, randomUUID } from "node:crypto";
import { Hono } from "hono";
import { maxLength, minLength, object, optional, pipe, regex, string } from "valibot";
import { type Batch, stateOf } from "../../domain/batch.js";
import type { Outcome, Ticket } from "../../domain/selection.js";
import type { Student } from "../../domain/student.js";
import { studentOf } from "../access.js";
import { readBody, wantsJson } from "../body.js";
import { ticketEvents } from "../events.js";
import { BusyPage, NotBusyPage } from "../pages/busy.js";
import { CountdownPage } from "../pages/countdown.js";
import { GrabPage } from "../pages/grab.js";
import { RoomsPage } from "../pages/rooms.js";
import { Refused } from "../refused.js";
import type { RushRoute, RushVerdict } from "../rush.js";
import { saidOf } from "../said.js";
import type { PageContext, PageEnv } from "../site.js";
import { isPending, kindOf, linesOf, markOf } from "../ticket-lines.js";

/** A request that is sent twice, by a double click or a reload, has the same id, and is one request. */
const RequestId = optional(pipe(string(), regex(/^[\w-]{8,64}$/)));
const Grab = object({ requestId: RequestId });
const Pick = object({ requestId: RequestId, room: pipe(string(), minLength(1), maxLength(100)) });

/** A student on a page that needs a batch. */
interface Visit {
  readonly student: Student;
  readonly batch: Batch;
  readonly nowMs: number;
}

export function selectionRoutes(): Hono<PageEnv> {
  const routes = new Hono<PageEnv>();
  routes.get("/countdown", countdown);
  routes.get("/busy", busy);
  routes.get("/grab", grabPage);
  routes.get("/rooms", roomsPage);
  routes.post("/grab", async (context) => {
    const { student, late } = await admitted(context);
    if (late) return late;
    const { requestId } = await readBody(context, Grab);
    const id = idOf("grab", requestId);
    return told(context, await context.get("site").dormitory.selection.grab(student, id));
  });
  routes.post("/pick", async (context) => {
    const { student, late } = await admitted(context);
    if (late) return late;
    const { requestId, room } = await readBody(context, Pick);
    const id = idOf("pick", requestId, room);
    return told(context, await context.get("site").dormitory.selection.pick(student, room, id));
  });
  routes.post("/regret", async (context) => {
    const student = studentOf(context);
    const visit = visitOf(context);
    const busyUntilMs = visit && (await hit(context, visit, "grab")).busyUntilMs;
    if (visit && busyUntilMs !== null) return busyAnswer(context, busyUntilMs, visit.nowMs);
    const { requestId } = await readBody(context, Grab);
    const id = idOf("regret", requestId);
    return told(context, await context.get("site").dormitory.selection.regret(student, id), "regretted");
  });
  routes.get("/ticket", ticket);
  routes.get("/events", (context) => ticketEvents(context, studentOf(context)));
  return routes;
}

/** The id stands for the action as well: a form that is sent again for another room is another request. The service adds the student. */
function idOf(kind: string, requestId: string | undefined, room = ""): string | undefined {
  if (requestId === undefined) return undefined;
  return createHash("sha256").update(`${kind}:${room}:${requestId}`).digest("base64url");
}

/** @returns null for a student without a batch, whose page is the own one */
function visitOf(context: PageContext): Visit | null {
  const student = studentOf(context);
  const { schedule, clock } = context.get("site");
  const known = schedule.get(student.batchId);
  if (!known) return null;
  const nowMs = clock.nowMs();
  // The batch was read up to a second ago, and may have begun since.
  const state = stateOf({ ...known, archived: known.state === "archived" }, nowMs);
  return { student, batch: { ...known, state }, nowMs };
}

function hit(context: PageContext, { student, batch, nowMs }: Visit, route: RushRoute): Promise<RushVerdict> {
  return context.get("site").rush.hit(student.id, route, batch, nowMs);
}

async function countdown(context: PageContext): Promise<Response> {
  const visit = visitOf(context);
  if (!visit) return context.redirect("/me", 303);
  const verdict = await hit(context, visit, "countdown");
  if (verdict.busyUntilMs !== null) return busyAnswer(context, verdict.busyUntilMs, visit.nowMs);
  const { batch, nowMs } = visit;
  return context.html(
    <CountdownPage context={context} {...{ batch, verdict, nowMs }} requestId={randomUUID()} />,
  );
}

async function busy(context: PageContext): Promise<Response> {
  const visit = visitOf(context);
  if (!visit) return context.redirect("/me", 303);
  const { student, batch, nowMs } = visit;
  const { busyUntilMs } = await context.get("site").rush.look(student.id, batch, nowMs);
  if (busyUntilMs !== null) return busyAnswer(context, busyUntilMs, nowMs);
  return context.html(<NotBusyPage context={context} />);
}

function busyAnswer(context: PageContext, untilMs: number, nowMs: number): Response | Promise<Response> {
  const retryAfterMs = Math.max(0, untilMs - nowMs);
  context.header("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  if (wantsJson(context)) return context.json({ error: "busy", retryAfterMs }, 429);
  return context.html(<BusyPage context={context} untilMs={untilMs} nowMs={nowMs} />, 429);
}

/** A request that wants a room: `late` is the answer where the student has to wait first. */
async function admitted(
  context: PageContext,
): Promise<{ readonly student: Student; readonly late: Response | null }> {
  const visit = visitOf(context);
  if (!visit) throw new Refused(404, "missing");
  const { student, batch, nowMs } = visit;
  const { busyUntilMs, startsAtMs, postponedMs } = await hit(context, visit, "grab");
  if (busyUntilMs !== null) return { student, late: await busyAnswer(context, busyUntilMs, nowMs) };
  // Before the start of the batch it is the service that says no, by the clock of its store.
  if (postponedMs === 0 || nowMs < batch.startsAtMs || nowMs >= startsAtMs) return { student, late: null };
  const retryAfterMs = startsAtMs - nowMs;
  context.header("retry-after", String(Math.ceil(retryAfterMs / 1_000)));
  const late = wantsJson(context)
    ? context.json({ error: "postponed", retryAfterMs }, 429)
    : context.redirect("/countdown", 303);
  return { student, late };
}

/** The answer to a request. The page is another request, so that to reload it repeats nothing. */
function told(context: PageContext, answer: Ticket | Outcome, said?: "regretted"): Response {
  if (wantsJson(context)) return context.json(answer);
  return context.redirect(said && answer.state === "done" ? `/grab?said=${said}` : "/grab", 303);
}

async function grabPage(context: PageContext): Promise<Response> {
  const visit = visitOf(context);
  if (!visit) return context.redirect("/me", 303);
  const verdict = await hit(context, visit, "grab");
  const { student, batch, nowMs } = visit;
  if (verdict.busyUntilMs !== null) return busyAnswer(context, verdict.busyUntilMs, nowMs);
  const { dormitory, rooms } = context.get("site");
  const view = await dormitory.selection.ticket(student);
  if (!view) return context.redirect("/me", 303);
  // Only a result names a room and people.
  const [list, team] =
    view.places.length > 0 && !isPending(view)
      ? await Promise.all([rooms.of(batch.id), dormitory.teams.of(student)])
      : [[], null];
  const members = team?.members ?? [];
  return context.html(
    <GrabPage
      context={context}
      {...{ student, batch, view, members, verdict, nowMs }}
      rooms={list}
      requestId={randomUUID()}
      {...saidOf(context)}
    />,
  );
}

async function roomsPage(context: PageContext): Promise<Response> {
  const visit = visitOf(context);
  if (!visit) return context.redirect("/me", 303);
  const { student, batch } = visit;
  const { dormitory, rooms } = context.get("site");
  const [list, team] = await Promise.all([rooms.of(batch.id), dormitory.teams.of(student)]);
  if (wantsJson(context)) return context.json(list);
  return context.html(
    <RoomsPage
      context={context}
      rooms={list}
      wishes={team?.wishes.roomIds ?? []}
      teamSize={team?.members.length ?? 1}
      isOpen={batch.state === "open"}
      showsAll={context.req.query("all") !== undefined}
      requestId={randomUUID()}
      {...saidOf(context)}
    />,
  );
}

async function ticket(context: PageContext): Promise<Response> {
  const student = studentOf(context);
  if (!wantsJson(context)) return context.redirect("/grab", 303);
  const view = await context.get("site").dormitory.selection.ticket(student);
  if (!view) throw new Refused(404, "missing");
  if (context.req.query("seen") === markOf(view)) return context.body(null, 204);
  return context.json({ ...view, kind: kindOf(view), lines: linesOf(view, context.get("texts")) });
}
