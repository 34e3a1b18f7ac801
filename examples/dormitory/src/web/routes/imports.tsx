/** CSV imports of an administrator. */
import { Hono } from "hono";
import { file, maxLength, object, optional, picklist, pipe, string, union } from "valibot";
import { EditRefused } from "../../domain/edit-refused.js";
import type { Student } from "../../domain/student.js";
import { administratorOf } from "../access.js";
import { isPlain, readBody, wantsJson } from "../body.js";
import { ImportedPage, type ImportKind, importKinds } from "../pages/imports.js";
import { Refused } from "../refused.js";
import type { PageContext, PageEnv } from "../site.js";
import { batchOf, batchPage, logRefusal, pathOf, refusalOf } from "./admin.js";

const Csv = pipe(string(), maxLength(2_000_000));
const Import = object({
  kind: picklist(importKinds),
  /** A form without a file sends an empty one. */
  file: optional(union([file(), string()])),
  text: optional(Csv, ""),
});

export function importRoutes(): Hono<PageEnv> {
  const routes = new Hono<PageEnv>();
  routes.post("/admin/batches/:id/import", async (context) => {
    const administrator = administratorOf(context);
    const batch = await batchOf(context);
    const { kind, file: given, text } = await readBody(context, Import);
    const csv = given instanceof File && given.size > 0 ? await given.text() : text;
    if (!isPlain(csv)) throw new Refused(400, "invalid");
    const result = await imported(context, kind, batch.id, csv, administrator).catch(refusalIn);
    if (result instanceof EditRefused) {
      logRefusal(context, result);
      const { reason, subject } = result;
      if (wantsJson(context)) return context.json({ ok: false, reason, subject }, 409);
      return batchPage(context, batch, { bad: refusalOf(context, result) }, 409);
    }
    if (wantsJson(context)) return context.json(result);
    return context.html(<ImportedPage context={context} base={pathOf(batch)} kind={kind} result={result} />);
  });
  return routes;
}

function imported(context: PageContext, kind: ImportKind, batchId: string, csv: string, by: Student) {
  const { students, rooms, teams } = context.get("site").dormitory;
  if (kind === "wishes") return teams.importWishes(batchId, csv, by);
  return (kind === "students" ? students : rooms).importCsv(batchId, csv, by);
}

function refusalIn(error: unknown): EditRefused {
  if (error instanceof EditRefused) return error;
  throw error;
}
