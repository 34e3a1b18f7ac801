/**
 * Edits of a batch, under its lock. PostgreSQL is written first, in a transaction that stays open until Redis has taken the edit: a refusal
 * by either side leaves both as they were.
 */
import type { Lease } from "holdfast";
import type { BatchRows } from "../data/batch-rows.js";
import { brokenConstraint } from "../data/constraint.js";
import type { Batch, BatchChange, BatchTerms, RoomDraft } from "../domain/batch.js";
import { EditRefused } from "../domain/edit-refused.js";
import type { EditResult } from "../domain/service.js";
import type { Student } from "../domain/student.js";
import { fenceEntry } from "./fences.js";
import { batchLock, batchSignal, newId } from "./names.js";
import { answered, piped, type Store } from "./store.js";

const LOCK_TTL = "5s";
const EDIT_WAIT = "30s";

type Members = Pick<BatchChange, "addRooms" | "removeRooms" | "addStudents" | "removeStudents">;

export type BatchEdit = {
  readonly id: string;
  readonly isNew?: boolean;
  /** Only these fields are written. */
  readonly terms: Partial<BatchTerms>;
  /** Refused where the batch is planned or open, for instance because somebody has just given it more time. */
  readonly onlyIfOver?: boolean;
} & { readonly [Field in keyof Members]?: Members[Field] | undefined };

interface Room extends RoomDraft {
  readonly id: string;
}

export class BatchEdits {
  readonly #store: Store;
  readonly #rows: BatchRows;
  readonly #read: (id: string) => Promise<Batch | null>;

  constructor(store: Store, rows: BatchRows, read: (id: string) => Promise<Batch | null>) {
    this.#store = store;
    this.#rows = rows;
    this.#read = read;
  }

  async run(edit: BatchEdit, by: Student): Promise<EditResult> {
    if (by.role !== "admin") throw new Error(`${by.id} is no administrator`);
    const { hf } = this.#store;
    const lock = hf.rwLock(batchLock(edit.id), { ttl: LOCK_TTL }).write();
    try {
      await answered(
        "unknown",
        lock.run((lease) => this.#write(edit, lease), { wait: EDIT_WAIT }),
      );
    } catch (error) {
      const constraint = brokenConstraint(error);
      if (constraint !== null) return { ok: false, reason: "not-stored", subject: constraint };
      if (error instanceof EditRefused) return { ok: false, reason: error.reason, subject: error.subject };
      throw error;
    }
    await hf
      .signal(batchSignal(edit.id))
      .emit()
      .catch(() => {});
    const batch = await this.#read(edit.id);
    return batch ? { ok: true, batch } : { ok: false, reason: "no-such-batch", subject: null };
  }

  /** Both sides compare the fence of the lease. @throws {EditRefused} */
  async #write(edit: BatchEdit, lease: Lease): Promise<void> {
    const { id, terms, removeRooms = [] } = edit;
    const whole = await this.#termsOf(edit);
    const coming = await this.#people(edit.addStudents);
    const stranger = coming.find(({ batchId }) => batchId !== null && batchId !== id);
    if (stranger) throw new EditRefused("no-such-student", stranger.id);
    const leaving = await this.#people(edit.removeStudents);
    const foreign = leaving.find(({ batchId }) => batchId !== id);
    if (foreign) throw new EditRefused("no-such-student", foreign.id);
    const addRooms = await this.#rooms(id, edit.addRooms ?? []);
    lease.check();
    const numbersOf = (people: readonly Student[]): string[] => people.map((person) => person.id);
    const rows = { addRooms, removeRooms, people: numbersOf(coming), gone: numbersOf(leaving) };
    await this.#rows.write({ id, whole, terms, ...rows }, lease, () =>
      this.#inRedis(id, {
        fences: [fenceEntry("edit", lease)],
        meta: metaOf(terms),
        addRooms,
        dropRooms: removeRooms,
        addPeople: coming.map((person) => ({ id: person.id, name: person.name })),
        dropPeople: rows.gone,
      }),
    );
    await this.#list(id, coming, leaving);
  }

  /** As they will be. An edit that came first has ended by now. */
  async #termsOf({ id, isNew, terms, onlyIfOver }: BatchEdit): Promise<BatchTerms> {
    const before = isNew ? null : await this.#read(id);
    if (!isNew && before === null) throw new EditRefused("no-such-batch");
    if (before?.state === "archived" && !terms.archived) throw new EditRefused("archived");
    if (onlyIfOver && before?.state !== "closed") throw new EditRefused("not-over");
    const {
      name = "",
      startsAtMs = 0,
      endsAtMs = 0,
      way = "locks",
      archived = false,
    }: Partial<BatchTerms> = { ...before, ...terms };
    if (name.trim() === "" || !(endsAtMs > startsAtMs)) throw new EditRefused("terms");
    return { name, startsAtMs, endsAtMs, way, archived };
  }

  async #people(numbers: readonly string[] = []): Promise<readonly Student[]> {
    const people = await this.#rows.people(numbers);
    const known = new Set(people.map((person) => person.id));
    const missing = numbers.find((number) => !known.has(number));
    if (missing !== undefined) throw new EditRefused("no-such-student", missing);
    return people;
  }

  /**
   * A room that Redis knows by its name, and PostgreSQL does not, is of an edit that nobody answered: it keeps its id, so that
   * a repeat of that edit brings both sides together.
   */
  async #rooms(batchId: string, drafts: readonly RoomDraft[]): Promise<Room[]> {
    if (drafts.length === 0) return [];
    const { redis, keys } = this.#store;
    const texts = await answered("nothing", redis.hgetall(keys.of(batchId, "rooms")));
    const there = new Map<string, Room>();
    for (const [id, text] of Object.entries(texts)) {
      const room: RoomDraft = JSON.parse(text);
      there.set(nameOf(room), { ...room, id });
    }
    const recorded = await this.#rows.roomNames(batchId);
    const named = new Set(recorded.map(nameOf));
    return drafts.map((draft) => {
      const known = there.get(nameOf(draft));
      if (named.has(nameOf(draft)) || (known && known.beds !== draft.beds))
        throw new EditRefused("room-exists", `${draft.building} ${draft.name}`);
      named.add(nameOf(draft));
      return { ...draft, id: known?.id ?? newId() };
    });
  }

  async #inRedis(id: string, edit: object): Promise<void> {
    const reply = await this.#store.run("edit", id, [JSON.stringify(edit)], "unknown");
    const [done, subject] = reply as [string, string];
    if (done === "room-taken" || done === "has-room") throw new EditRefused("room-taken", subject);
    if (done !== "done") throw new Error(`the edit of ${id} was overtaken`);
  }

  /** The list of batches and the directory follow. */
  async #list(id: string, coming: readonly Student[], leaving: readonly Student[]): Promise<void> {
    const { keys, redis } = this.#store;
    const pipeline = redis.pipeline().sadd(keys.batches, id);
    const put = ({ id: number, name, role }: Student, batchId: string | null): void => {
      pipeline.hset(keys.directory, number, JSON.stringify({ name, role, batchId }));
    };
    for (const person of coming) put(person, id);
    for (const person of leaving) put(person, null);
    await piped(pipeline, "unknown");
  }
}

function metaOf({ archived, ...terms }: Partial<BatchTerms>): Record<string, string> {
  const fields = Object.entries(terms).map(([name, value]) => [name, String(value)]);
  if (archived !== undefined) fields.push(["archived", archived ? "yes" : "no"]);
  return Object.fromEntries(fields);
}

function nameOf({ building, name }: Pick<RoomDraft, "building" | "name">): string {
  return JSON.stringify([building, name]);
}
