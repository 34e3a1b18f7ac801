/** CSV of rooms and students. Every row is checked by itself; those without a problem are imported with one edit of the batch. */
import { parse } from "csv-parse/sync";
import type { PutEntry } from "holdfast";
import type { Kysely } from "kysely";
import { anyOf } from "../data/batch-rows.js";
import { chunks } from "../data/chunks.js";
import { hashPassword } from "../data/passwords.js";
import type { Tables } from "../data/tables.js";
import type { RoomDraft } from "../domain/batch.js";
import { EditRefused } from "../domain/edit-refused.js";
import { isBedCount } from "../domain/room.js";
import type { ImportProblem, ImportResult, Student } from "../domain/student.js";
import { refusalOfWishes } from "../domain/team.js";
import { Unreachable } from "../domain/unreachable.js";
import type { Batches } from "./batches.js";
import { wishesRecord } from "./names.js";
import type { Rooms } from "./rooms.js";
import { answered, type Store } from "./store.js";

type Problem = ImportProblem["problem"];
type Row = Readonly<Record<string, string>>;

/** What a row is about. */
interface Subject {
  readonly id: string;
  /** For people. */
  readonly text: string;
}

interface Line {
  readonly line: number;
  readonly row: Row;
}

const LONGEST_SHOWN = 80;
const LONGEST_NAME = 60;
const LEAST_PASSWORD = 8;
/** One thread of the pool of four is left to those who sign in meanwhile. */
const HASHED_AT_ONCE = 3;
const NUMBER = /^[\w-]{1,32}$/;

interface ImportParts {
  readonly db: Kysely<Tables>;
  readonly batches: Batches;
  readonly store: Store;
  readonly rooms: Rooms;
}

export class Imports {
  readonly #db: Kysely<Tables>;
  readonly #batches: Batches;
  readonly #store: Store;
  readonly #rooms: Rooms;

  constructor({ db, batches, store, rooms }: ImportParts) {
    this.#db = db;
    this.#batches = batches;
    this.#store = store;
    this.#rooms = rooms;
  }

  /** One bulk write. It names no version: the file replaces what is there, and a student who saw the old version is refused. */
  async wishes(batchId: string, csv: string, by: Student): Promise<ImportResult> {
    const { hf, redis, keys } = this.#store;
    const { lines, problems } = linesOf(csv, ["number", "wishes"]);
    const batch = await this.#batches.get(batchId);
    if (!batch) throw new EditRefused("no-such-batch");
    const known = await this.#rooms.known(batchId, batch.version);
    const good = checked(lines, problems, numberOf, (row) => problemOfWishes(row, known));
    if (good.length === 0) return { imported: 0, problems };
    const numbers = good.map(({ row }) => row["number"] ?? "");
    const teams = await answered("nothing", redis.hmget(keys.of(batchId, "team-of"), ...numbers));
    const writes = new Map<string, PutEntry>();
    for (const [at, { line, row }] of good.entries()) {
      const team = teams[at];
      if (!team) problems.push(problemAt(line, "number", row["number"] ?? ""));
      else if (writes.has(team)) problems.push(problemAt(line, "twice-in-file", row["number"] ?? ""));
      else {
        const value = { roomIds: wordsOf(row["wishes"]), by: { id: by.id, name: by.name }, atMs: Date.now() };
        writes.set(team, { ...wishesRecord(batchId, team), value });
      }
    }
    const written = await answered("unknown", hf.records.putMany([...writes.values()]));
    const failed = written.find((one) => !one.ok);
    if (failed && !failed.ok) throw new Unreachable("unknown", failed.error);
    return { imported: writes.size, problems };
  }

  async rooms(batchId: string, csv: string, by: Student): Promise<ImportResult> {
    const { lines, problems } = linesOf(csv, ["building", "name", "beds"]);
    await this.#requireOpen(batchId);
    const good = checked(lines, problems, roomOf, problemOfRoom);
    // The next year has the same rooms, in another batch.
    const taken = await answered(
      "nothing",
      this.#db.selectFrom("rooms").select(["building", "name"]).where("batch_id", "=", batchId).execute(),
    );
    const there = new Set(taken.map((room) => roomOf(room).id));
    const fresh = good.filter(({ line, row }) => isFresh(line, roomOf(row), there, problems));
    const addRooms = fresh.map(
      ({ row }): RoomDraft => ({
        building: row["building"] ?? "",
        name: row["name"] ?? "",
        beds: Number(row["beds"]),
      }),
    );
    if (addRooms.length > 0) await this.#edit(batchId, { addRooms }, by);
    return { imported: addRooms.length, problems };
  }

  /** New accounts join the batch. One that is in no batch joins with the name and the password that it has. */
  async students(batchId: string, csv: string, by: Student): Promise<ImportResult> {
    const { lines, problems } = linesOf(csv, ["number", "name", "password"]);
    await this.#requireOpen(batchId);
    const good = checked(lines, problems, numberOf, problemOfStudent);
    const free = new Set<string>();
    const taken = new Set<string>();
    for (const { number, role, batch_id } of await this.#existing(good.map(({ row }) => row["number"] ?? "")))
      (role === "student" && batch_id === null ? free : taken).add(number);
    const joining = good.filter(({ line, row }) => isFresh(line, numberOf(row), taken, problems));
    const coming = joining.filter(({ row }) => !free.has(numberOf(row).id));
    const values: Awaited<ReturnType<typeof accountOf>>[] = [];
    for (const few of chunks(coming, HASHED_AT_ONCE))
      values.push(...(await Promise.all(few.map(({ row }) => accountOf(row)))));
    for (const some of chunks(values))
      await answered("unknown", this.#db.insertInto("students").values(some).execute());
    if (joining.length > 0)
      await this.#edit(batchId, { addStudents: joining.map(({ row }) => row["number"] ?? "") }, by);
    return { imported: joining.length, problems };
  }

  async #existing(
    numbers: readonly string[],
  ): Promise<{ number: string; role: string; batch_id: string | null }[]> {
    if (numbers.length === 0) return [];
    return answered(
      "nothing",
      this.#db
        .selectFrom("students")
        .select(["number", "role", "batch_id"])
        .where("number", "=", anyOf(numbers))
        .execute(),
    );
  }

  /** Before anything is written: accounts are made ahead of the edit. @throws {EditRefused} */
  async #requireOpen(batchId: string): Promise<void> {
    const batch = await this.#batches.get(batchId);
    if (!batch) throw new EditRefused("no-such-batch");
    if (batch.state === "archived") throw new EditRefused("archived");
  }

  /** @throws {EditRefused} */
  async #edit(batchId: string, change: Parameters<Batches["edit"]>[1], by: Student): Promise<void> {
    const edited = await this.#batches.edit(batchId, change, by);
    if (!edited.ok) throw new EditRefused(edited.reason, edited.subject);
  }
}

/** The rows by line. A file without the wanted columns is one problem. */
function linesOf(
  csv: string,
  columns: readonly string[],
): { readonly lines: Line[]; readonly problems: ImportProblem[] } {
  const problems: ImportProblem[] = [];
  try {
    const rows = parse(csv, {
      bom: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      info: true,
    }) as unknown as {
      record: string[];
      info: { lines: number };
    }[];
    const [header, ...rest] = rows;
    if (!header || columns.some((column, at) => header.record[at] !== column)) {
      problems.push(problemAt(1, "columns", header?.record.join(",") ?? ""));
      return { lines: [], problems };
    }
    const lines = rest.flatMap(({ record, info }) => {
      if (record.length === columns.length)
        return [
          {
            line: info.lines,
            row: Object.fromEntries(columns.map((column, at) => [column, record[at] ?? ""])),
          },
        ];
      problems.push(problemAt(info.lines, "columns", record.join(",")));
      return [];
    });
    return { lines, problems };
  } catch (error) {
    const line = (error as { lines?: number }).lines ?? 1;
    return { lines: [], problems: [problemAt(line, "syntax", error instanceof Error ? error.message : "")] };
  }
}

function checked(
  lines: readonly Line[],
  problems: ImportProblem[],
  subjectOf: (row: Row) => Subject,
  problemOf: (row: Row) => readonly [Problem, string] | null,
): Line[] {
  const seen = new Set<string>();
  return lines.filter(({ line, row }) => {
    const { id, text } = subjectOf(row);
    const found = problemOf(row) ?? (seen.has(id) ? (["twice-in-file", text] as const) : null);
    if (found) problems.push(problemAt(line, ...found));
    else seen.add(id);
    return found === null;
  });
}

function isFresh(
  line: number,
  subject: Subject,
  there: ReadonlySet<string>,
  problems: ImportProblem[],
): boolean {
  if (!there.has(subject.id)) return true;
  problems.push(problemAt(line, "exists", subject.text));
  return false;
}

async function accountOf({ number = "", name = "", password = "" }: Row) {
  return { number, name, role: "student", batch_id: null, password: await hashPassword(password) };
}

function numberOf({ number = "" }: Row): Subject {
  return { id: number, text: number };
}

function roomOf({ building = "", name = "" }: Row): Subject {
  return { id: JSON.stringify([building, name]), text: `${building} ${name}` };
}

function problemOfRoom({ building = "", name = "", beds = "" }: Row): readonly [Problem, string] | null {
  if (building === "" || building.length > LONGEST_NAME) return ["building", building];
  if (name === "" || name.length > LONGEST_NAME) return ["name", name];
  return isBedCount(beds) ? null : ["beds", beds];
}

function problemOfStudent({ number = "", name = "", password = "" }: Row): readonly [Problem, string] | null {
  if (!NUMBER.test(number)) return ["number", number];
  if (name === "" || name.length > LONGEST_NAME) return ["name", name];
  // The text of a password is not shown.
  return password.length >= LEAST_PASSWORD ? null : ["password", ""];
}

function problemOfWishes(
  { wishes }: Row,
  known: ReadonlyMap<string, unknown>,
): readonly [Problem, string] | null {
  return refusalOfWishes(wordsOf(wishes), (id) => known.has(id)) ? ["wishes", wishes ?? ""] : null;
}

function wordsOf(text = ""): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function problemAt(line: number, problem: Problem, text: string): ImportProblem {
  return { line, problem, text: text.slice(0, LONGEST_SHOWN) };
}
