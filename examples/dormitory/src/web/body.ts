/** The fields of a request, from a form or from JSON, checked against a schema. */
import { type GenericSchema, type InferOutput, safeParse } from "valibot";
import { Refused } from "./refused.js";
import type { PageContext } from "./site.js";

/** @throws {Refused} where the fields are not what the schema says; what was typed is never repeated */
export async function readBody<Schema extends GenericSchema>(
  context: PageContext,
  schema: Schema,
): Promise<InferOutput<Schema>> {
  const isJson = context.req.header("content-type")?.startsWith("application/json");
  const given: unknown = isJson
    ? await context.req.json().catch(() => null)
    : await context.req.parseBody({ all: true }).catch(() => null);
  const parsed = safeParse(schema, given);
  if (!parsed.success || !isPlain(given)) throw new Refused(400, "invalid");
  return parsed.output;
}

/**
 * Whether all texts are ones that every store can keep: well-formed Unicode, and no control characters but tab and line ends.
 */
export function isPlain(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed() && !/[^\P{Cc}\t\r\n]/u.test(value);
  if (Array.isArray(value)) return value.every(isPlain);
  if (typeof value !== "object" || value === null || value instanceof File) return true;
  return Object.values(value).every(isPlain);
}

/** Whether the answer goes to a program. Browsers name HTML first. */
export function wantsJson(context: PageContext): boolean {
  const accept = context.req.header("accept") ?? "";
  return accept.includes("application/json") && !accept.includes("text/html");
}
