/** Batches, rooms and students in PostgreSQL, as an administrator's edit writes them. */
import type { Fenced } from "holdfast";
import { type ColumnValues, FencedTable, TokenFence } from "holdfast/fencing/sql";
import { CompiledQuery, type Kysely, sql, type Transaction } from "kysely";
import type { BatchTerms } from "../domain/batch.js";
import { EditRefused } from "../domain/edit-refused.js";
import type { Student } from "../domain/student.js";
import { chunks } from "./chunks.js";
import type { Tables } from "./tables.js";

export interface RowsOfEdit {
  readonly id: string;
  /** For a batch that has no row yet. */
  readonly whole: BatchTerms;
  /** The fields that change. */
  readonly terms: Partial<BatchTerms>;
  readonly addRooms: readonly {
    readonly id: string;
    readonly building: string;
    readonly name: string;
    readonly beds: number;
  }[];
  readonly removeRooms: readonly string[];
  readonly people: readonly string[];
  readonly gone: readonly string[];
}

const fence = new TokenFence({ dialect: "postgres", table: "batches", holderColumn: "fence_holder" });

const columns = {
  name: "name",
  startsAtMs: "starts_at_ms",
  endsAtMs: "ends_at_ms",
  way: "way",
  archived: "archived",
} as const satisfies Record<keyof BatchTerms, keyof Tables["batches"]>;

export class BatchRows {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** The students with these numbers; those that do not exist are left out. */
  async people(numbers: readonly string[]): Promise<Student[]> {
    if (numbers.length === 0) return [];
    const rows = await this.#db
      .selectFrom("students")
      .select(["number", "name", "role", "batch_id"])
      .where("number", "=", anyOf(numbers))
      .where("role", "=", "student")
      .execute();
    return rows.map((row) => ({ id: row.number, name: row.name, role: "student", batchId: row.batch_id }));
  }

  roomNames(batchId: string): Promise<{ building: string; name: string }[]> {
    return this.#db
      .selectFrom("rooms")
      .select(["building", "name"])
      .where("batch_id", "=", batchId)
      .execute();
  }

  /**
   * All of it or nothing. A stale holder is refused by the row of the batch, before anything else is written.
   * @param last the part that is not in PostgreSQL: when it throws, the transaction rolls back
   * @throws {EditRefused}
   */
  async write(edit: RowsOfEdit, holder: Fenced, last: () => Promise<void>): Promise<void> {
    await this.#db.transaction().execute(async (tx) => {
      await writeTerms(tx, edit, holder);
      await writeRooms(tx, edit);
      await writePeople(tx, edit);
      await last();
    });
  }
}

async function writeTerms(
  tx: Transaction<Tables>,
  { id, whole, terms }: RowsOfEdit,
  holder: Fenced,
): Promise<void> {
  const batches = new FencedTable(fence, ({ text, values }) =>
    tx.executeQuery(CompiledQuery.raw(text, [...values])),
  );
  await batches.create({ id }, rowOf(whole));
  await batches.enter({ id }, holder);
  if (Object.keys(terms).length > 0) await batches.write({ id }, holder, rowOf(terms));
}

async function writeRooms(tx: Transaction<Tables>, { id, addRooms, removeRooms }: RowsOfEdit): Promise<void> {
  for (const rooms of chunks(addRooms))
    await tx
      .insertInto("rooms")
      .values(rooms.map((room) => ({ ...room, batch_id: id })))
      .execute();
  if (removeRooms.length === 0) return;
  const gone = await tx
    .updateTable("rooms")
    .set({ batch_id: null })
    .where("id", "=", anyOf(removeRooms))
    .where("batch_id", "=", id)
    .returning("id")
    .execute();
  refuseMissing("no-such-room", removeRooms, gone);
}

/** The rows decide: of two edits that take the same student, the second one finds the batch of the first. */
async function writePeople(tx: Transaction<Tables>, { id, people, gone }: RowsOfEdit): Promise<void> {
  if (people.length > 0) {
    const taken = await tx
      .updateTable("students")
      .set({ batch_id: id })
      .where("number", "=", anyOf(people))
      .where((row) => row.or([row("batch_id", "is", null), row("batch_id", "=", id)]))
      .returning("number as id")
      .execute();
    refuseMissing("no-such-student", people, taken);
  }
  if (gone.length === 0) return;
  const left = await tx
    .updateTable("students")
    .set({ batch_id: null })
    .where("number", "=", anyOf(gone))
    .where("batch_id", "=", id)
    .returning("number as id")
    .execute();
  refuseMissing("no-such-student", gone, left);
}

function refuseMissing(
  reason: "no-such-room" | "no-such-student",
  wanted: readonly string[],
  written: readonly { readonly id: string }[],
): void {
  const ids = new Set(written.map(({ id }) => id));
  const missing = wanted.find((id) => !ids.has(id));
  if (missing !== undefined) throw new EditRefused(reason, missing);
}

function rowOf(terms: Partial<BatchTerms>): ColumnValues {
  return Object.fromEntries(
    Object.entries(terms).map(([field, value]) => [columns[field as keyof BatchTerms], value]),
  );
}

/** One parameter, however many there are. */
export function anyOf(texts: readonly string[]) {
  return sql<string>`any(${[...texts]}::text[])`;
}
