/** `holdfast record get`, `put`, `delete` and `ls`. */
import { ConflictError, type InspectedRecord, type RecordState } from "holdfast";
import { confirmed } from "../confirm.js";
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { readValue, type ValueForm } from "../input.js";
import { colorsFor, jsonOf, note, noteEvent, printLine } from "../output/output.js";
import { recordTable } from "../output/records.js";
import { printable } from "../output/text.js";
import { rawValue, shownValue, valueText } from "../output/values.js";
import { rulerFor } from "../output/width.js";
import { withSession } from "../session.js";
import type { Settings } from "../settings.js";
import { roomIn } from "./look.js";

export interface RecordTerms {
  readonly name: string;
  readonly tag: string | undefined;
}

export interface GetTerms extends RecordTerms {
  readonly raw: boolean;
}

export function get({ name, tag, raw }: GetTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    const state = await hf.record(name, { tag }).get();
    if (settings.json) {
      const { value = null, version = 0n, fence = 0n } = state ?? {};
      printLine(
        jsonOf({ name, tag: tag ?? null, exists: state !== null, ...shownValue(value), version, fence }),
      );
    } else if (!state) note(`there is no record '${printable(name)}'`);
    else if (raw) host().stdout.write(rawValue(state.value, host().stdout.isTTY === true));
    else printLine(valueText(state.value));
    return state ? EXIT.ok : EXIT.no;
  });
}

export interface PutTerms extends RecordTerms {
  /** "-" for stdin. */
  readonly value: string;
  readonly form: ValueForm;
  readonly version: bigint | undefined;
  readonly keepMs: number | undefined;
}

export function put(terms: PutTerms, settings: Settings): Promise<number> {
  const { name, tag, version, keepMs } = terms;
  return withSession(settings, async ({ hf }, signal) => {
    const value = await readValue(terms.value, terms.form, signal);
    const record = hf.record(name, { tag });
    return unlessConflict(terms, settings, async () => {
      const put = await record.put(value, {
        ...on(version),
        ...(keepMs === undefined ? {} : { keep: keepMs }),
      });
      printLine(settings.json ? jsonOf({ name, tag: tag ?? null, ...put }) : String(put.version));
    });
  });
}

export interface RemoveTerms extends RecordTerms {
  readonly version: bigint | undefined;
  /** Do not ask. */
  readonly yes: boolean;
}

export function remove(terms: RemoveTerms, settings: Settings): Promise<number> {
  const { name, tag, version, yes } = terms;
  return withSession(settings, async ({ hf }, signal) => {
    const record = hf.record(name, { tag });
    const before = await record.get();
    if (before && !yes && !(await confirmed(questionOf(name, before), signal))) {
      note("left as it is");
      return EXIT.no;
    }
    return unlessConflict(terms, settings, async () => {
      // A value that was written during the question is not the one that the user meant.
      const meant = version ?? (yes ? undefined : before?.version);
      const deleted = await record.delete(on(meant));
      const told = `'${printable(name)}' ${deleted ? "is deleted" : "had no value"}`;
      printLine(settings.json ? jsonOf({ name, tag: tag ?? null, deleted }) : told);
    });
  });
}

function on(version: bigint | undefined): { readonly version?: bigint } {
  return version === undefined ? {} : { version };
}

function questionOf(name: string, { value, version }: RecordState<unknown>): string {
  return `'${printable(name)}' is ${valueText(value)}, version ${version}.\nDelete it?`;
}

export interface ListTerms {
  readonly pattern: string;
  readonly tag: string | undefined;
  /** Also those without a value. */
  readonly all: boolean;
}

export function list({ pattern, tag, all }: ListTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const inspector = await hf.inspector();
    const records: InspectedRecord[] = [];
    for await (const record of inspector.records({ pattern, tag, deleted: all })) {
      signal.throwIfAborted();
      records.push(record);
    }
    records.sort(byName);
    if (settings.json) printLine(jsonOf({ records: records.map(forJson) }));
    else if (records.length === 0) note("there is no record");
    else {
      const ruler = await rulerFor(jsonOf(records));
      const looks = { width: roomIn(host().stdout), colors: colorsFor(host().stdout), ruler };
      for (const line of recordTable(records, looks)) printLine(line);
    }
    return EXIT.ok;
  });
}

function forJson(record: InspectedRecord): object {
  return record.value === undefined ? record : { ...record, ...shownValue(record.value) };
}

function byName(a: InspectedRecord, b: InspectedRecord): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return (a.tag ?? "") < (b.tag ?? "") ? -1 : 1;
}

/** The report of a conflict has the present state of the record, so that the user can decide again. */
async function unlessConflict(
  { name }: RecordTerms,
  { json }: Settings,
  write: () => Promise<void>,
): Promise<number> {
  try {
    await write();
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const { version, value, expected } = error;
    const exists = version !== 0n;
    const now = exists ? `version ${version}, which is ${valueText(value)}` : "no value";
    const wanted = expected === 0n ? "where no value was expected" : `and not version ${expected}`;
    const message = `'${printable(name)}' has ${now}, ${wanted}: nothing was changed`;
    if (!json) note(message);
    else {
      const failure = { event: "error", code: error.code, exitCode: EXIT.conflict, message };
      noteEvent({ ...failure, name, exists, version, ...shownValue(value) });
    }
    return EXIT.conflict;
  }
}
