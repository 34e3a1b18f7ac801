/** The administrator's pages: batches, their live view, imports, archive, check and repair. */
import { Hono } from "hono";
import { array, maxLength, object, optional, picklist, pipe, string, transform, trim, union } from "valibot";
import type { Batch, BatchChange, BatchDraft, RoomDraft } from "../../domain/batch.js";
import type { EditRefusal, EditRefused } from "../../domain/edit-refused.js";
import { isBedCount } from "../../domain/room.js";
import type { EditResult } from "../../domain/service.js";
import { administratorOf } from "../access.js";
import { readBody, wantsJson } from "../body.js";
import { figuresOf } from "../figures.js";
import { momentOf } from "../local-time.js";
import { BatchesPage } from "../pages/admin.js";
import { BatchPage } from "../pages/batch.js";
import { UpkeepPage } from "../pages/upkeep.js";
import { Refused } from "../refused.js";
import { refusalText, type Said, saidOf } from "../said.js";
import type { PageContext, PageEnv } from "../site.js";

const Text = pipe(string(), maxLength(20_000));
const Terms = object({
  name: pipe(string(), trim(), maxLength(100)),
  starts: pipe(string(), maxLength(30)),
  ends: pipe(string(), maxLength(30)),
  way: picklist(["locks", "lanes"]),
});
const Members = object({
  addStudents: optional(Text, ""),
  removeStudents: optional(Text, ""),
  addRooms: optional(Text, ""),
  removeRooms: optional(
    union([
      array(Text),
      pipe(
        Text,
        transform((id) => [id]),
      ),
    ]),
    [],
  ),
});
const Action = object({ action: picklist(["check", "repair"]) });

const MOST_CONTESTED = 10;
const SHOWN_LOG = 100;

export function adminRoutes(): Hono<PageEnv> {
  const routes = new Hono<PageEnv>();
  routes.get("/admin", (context) => list(context));
  routes.post("/admin/batches", create);
  routes.get("/admin/batches/:id", show);
  routes.post("/admin/batches/:id", async (context) => edited(context, await termsOf(context)));
  routes.post("/admin/batches/:id/members", async (context) => edited(context, await membersOf(context)));
  routes.get("/admin/batches/:id/figures", figures);
  routes.post("/admin/batches/:id/archive", archive);
  routes.get("/admin/upkeep", async (context) => {
    administratorOf(context);
    return context.html(<UpkeepPage context={context} log={await upkeepOf(context).log(SHOWN_LOG)} />);
  });
  routes.post("/admin/upkeep", async (context) => {
    const administrator = administratorOf(context);
    const { action } = await readBody(context, Action);
    const upkeep = upkeepOf(context);
    const report = await (action === "check" ? upkeep.check() : upkeep.repair(administrator.id));
    if (wantsJson(context)) return context.json(report);
    return context.html(<UpkeepPage context={context} report={report} log={await upkeep.log(SHOWN_LOG)} />);
  });
  return routes;
}

function upkeepOf(context: PageContext) {
  return context.get("site").upkeep;
}

async function list(
  context: PageContext,
  news: Partial<Said> = saidOf(context),
  status: 200 | 409 = 200,
): Promise<Response> {
  administratorOf(context);
  const { dormitory, clock } = context.get("site");
  const batches = await dormitory.batches.list();
  return context.html(
    <BatchesPage context={context} batches={batches} nowMs={clock.nowMs()} {...news} />,
    status,
  );
}

/** @throws {Refused} where there is no such batch */
export async function batchOf(context: PageContext): Promise<Batch> {
  const batch = await context.get("site").dormitory.batches.get(context.req.param("id") ?? "");
  if (!batch) throw new Refused(404, "missing");
  return batch;
}

export function pathOf({ id }: Pick<Batch, "id">): string {
  return `/admin/batches/${encodeURIComponent(id)}`;
}

async function show(context: PageContext): Promise<Response> {
  administratorOf(context);
  const batch = await batchOf(context);
  return batchPage(context, batch, saidOf(context), 200);
}

export async function batchPage(
  context: PageContext,
  batch: Batch,
  news: Partial<Said>,
  status: 200 | 409,
): Promise<Response> {
  const { dormitory } = context.get("site");
  const [now, contested, rooms] = await Promise.all([
    dormitory.batches.figures(batch.id),
    dormitory.batches.contested(batch.id, MOST_CONTESTED),
    dormitory.rooms.of(batch.id),
  ]);
  return context.html(
    <BatchPage context={context} {...{ batch, contested, rooms }} figures={now} {...news} />,
    status,
  );
}

async function create(context: PageContext): Promise<Response> {
  const administrator = administratorOf(context);
  const { dormitory, schedule } = context.get("site");
  const result = await dormitory.batches.create(await termsOf(context), administrator);
  logRefusal(context, result);
  if (!result.ok && wantsJson(context)) return context.json(result, 409);
  if (!result.ok) return list(context, { bad: refusalOf(context, result) }, 409);
  await schedule.refresh();
  return toldEdit(context, result.batch, "created");
}

async function edited(context: PageContext, change: BatchChange): Promise<Response> {
  const administrator = administratorOf(context);
  const { dormitory, schedule } = context.get("site");
  const batch = await batchOf(context);
  const result = await dormitory.batches.edit(batch.id, change, administrator);
  logRefusal(context, result);
  if (!result.ok && wantsJson(context)) return context.json(result, 409);
  if (!result.ok) return batchPage(context, batch, { bad: refusalOf(context, result) }, 409);
  await schedule.refresh();
  return toldEdit(context, result.batch, "saved");
}

function toldEdit(context: PageContext, batch: Batch, said: "created" | "saved"): Response {
  if (wantsJson(context)) return context.json({ ok: true, batch: { ...batch, version: `${batch.version}` } });
  return context.redirect(`${pathOf(batch)}?said=${said}`, 303);
}

/** A value that only the database refuses is a gap in the checks before it. */
export function logRefusal(context: PageContext, result: EditResult | EditRefused): void {
  if (("ok" in result && result.ok) || result.reason !== "not-stored") return;
  context.get("site").log(`${context.req.path}: PostgreSQL refused a value: ${result.subject}`);
}

/** Why an edit was refused, with the number or id that it is about. */
export function refusalOf(
  context: PageContext,
  { reason, subject }: Pick<EditRefusal, "reason" | "subject">,
): string {
  const text = refusalText(context, reason);
  return subject === null ? text : `${text} (${subject})`;
}

async function termsOf(context: PageContext): Promise<BatchDraft> {
  administratorOf(context);
  const { name, starts, ends, way } = await readBody(context, Terms);
  const [startsAtMs, endsAtMs] = [momentOf(starts), momentOf(ends)];
  if (startsAtMs === null || endsAtMs === null) throw new Refused(400, "invalid");
  return { name, startsAtMs, endsAtMs, way };
}

async function membersOf(context: PageContext): Promise<BatchChange> {
  administratorOf(context);
  const { addStudents, removeStudents, addRooms, removeRooms } = await readBody(context, Members);
  return {
    addStudents: wordsOf(addStudents),
    removeStudents: wordsOf(removeStudents),
    addRooms: linesOf(addRooms).map(roomOf),
    removeRooms,
  };
}

function wordsOf(text: string): string[] {
  return text.split(/[\s,;，；]+/).filter((word) => word !== "");
}

function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** `building, name, beds` */
function roomOf(line: string): RoomDraft {
  const [building = "", name = "", beds = "", ...more] = line.split(/[,，]/).map((part) => part.trim());
  if (more.length > 0 || building === "" || name === "" || !isBedCount(beds))
    throw new Refused(400, "invalid");
  return { building, name, beds: Number(beds) };
}

async function figures(context: PageContext): Promise<Response> {
  administratorOf(context);
  const { id } = await batchOf(context);
  const now = await context.get("site").dormitory.batches.figures(id);
  return context.json({ ...now, figures: figuresOf(now, context.get("texts")), rate: now.perSecond });
}

async function archive(context: PageContext): Promise<Response> {
  const administrator = administratorOf(context);
  const batch = await batchOf(context);
  const report = await upkeepOf(context).archive(batch.id, administrator.id);
  if (wantsJson(context)) return context.json(report);
  const { admin } = context.get("texts");
  const text = admin.archived(report.copied, report.differences, report.repaired);
  return batchPage(context, await batchOf(context), { good: text }, 200);
}
