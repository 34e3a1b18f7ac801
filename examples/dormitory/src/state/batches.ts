/** Batches: their terms in Redis, and their figures. */
import type { BatchRows } from "../data/batch-rows.js";
import type { Batch, BatchChange, BatchDraft, BatchFigures, ContestedRoom } from "../domain/batch.js";
import type { EditResult } from "../domain/service.js";
import type { Student } from "../domain/student.js";
import { BatchEdits } from "./batch-edits.js";
import { type Meta, toBatch, toMs } from "./batch-terms.js";
import { batchSignal, newId, SELECTION_LANES } from "./names.js";
import { answered, piped, type Store } from "./store.js";

const PACE_MS = 10_000;
const MOST_PACED = 5_000;
/** A message about an edit may be missed; the terms are read again after this time in any case. */
const LOOK_AGAIN_MS = 2_000;

export class Batches {
  readonly #store: Store;
  readonly #edits: BatchEdits;

  constructor(store: Store, rows: BatchRows) {
    this.#store = store;
    this.#edits = new BatchEdits(store, rows, (id) => this.get(id));
  }

  async list(): Promise<readonly Batch[]> {
    const ids = await answered("nothing", this.#store.redis.smembers(this.#store.keys.batches));
    const batches = await this.#read(ids);
    return batches
      .filter((batch) => batch !== null)
      .sort(
        (one, other) =>
          one.startsAtMs - other.startsAtMs || one.id.localeCompare(other.id, "en", { numeric: true }),
      );
  }

  async get(id: string): Promise<Batch | null> {
    return (await this.#read([id]))[0] ?? null;
  }

  async #read(ids: readonly string[]): Promise<(Batch | null)[]> {
    const pipeline = this.#store.redis.pipeline().time();
    for (const id of ids) pipeline.hgetall(this.#store.keys.of(id, "meta"));
    const [time, ...metas] = await piped(pipeline, "nothing");
    const nowMs = toMs(time);
    return ids.map((id, at) => toBatch(id, metas[at] as Meta, nowMs));
  }

  async *watch(id: string, signal: AbortSignal): AsyncGenerator<Batch> {
    let shown: Batch | null = null;
    while (!signal.aborted) {
      const batch = await this.get(id).catch(() => null);
      if (signal.aborted) return;
      if (batch && (batch.version !== shown?.version || batch.state !== shown.state)) {
        shown = batch;
        yield batch;
      }
      await this.#edited(id, signal);
    }
  }

  /** Resolves when the batch was edited, or after a while. */
  async #edited(id: string, signal: AbortSignal): Promise<void> {
    await this.#store.hf
      .signal(batchSignal(id))
      .wait({ wait: LOOK_AGAIN_MS, signal })
      .catch(() => {});
  }

  create(draft: BatchDraft, by: Student): Promise<EditResult> {
    return this.#edits.run({ id: newId(), isNew: true, terms: { ...draft, archived: false } }, by);
  }

  edit(id: string, change: BatchChange, by: Student): Promise<EditResult> {
    const { addRooms, removeRooms, addStudents, removeStudents, ...terms } = change;
    return this.#edits.run({ id, terms, addRooms, removeRooms, addStudents, removeStudents }, by);
  }

  /** Ends the batch for good. The archive job copies its results, unless it did so before. */
  archive(id: string, by: Student, { onlyIfOver = false } = {}): Promise<EditResult> {
    return this.#edits.run({ id, terms: { archived: true }, onlyIfOver }, by);
  }

  async figures(id: string): Promise<BatchFigures> {
    const { redis, keys, hf } = this.#store;
    const queued = answered("nothing", hf.lanes(SELECTION_LANES).lane(id));
    const pipeline = redis
      .pipeline()
      .time()
      .hlen(keys.of(id, "people"))
      .hvals(keys.of(id, "rooms"))
      .hlen(keys.of(id, "beds"))
      .hgetall(keys.of(id, "counts"));
    const [time, students, rooms, taken, counts] = await piped(pipeline, "nothing");
    const atMs = toMs(time);
    const recent = await answered(
      "nothing",
      redis.xrange(keys.of(id, "log"), `${atMs - PACE_MS}`, "+", "COUNT", MOST_PACED),
    );
    const count = (name: string): number => Number((counts as Meta)[name] ?? 0);
    const lane = await queued;
    return {
      atMs,
      students: Number(students),
      rooms: (rooms as string[]).length,
      beds: (rooms as string[]).reduce((sum, room) => sum + Number(JSON.parse(room).beds), 0),
      taken: Number(taken),
      queued: lane.waiting + lane.inFlight,
      decided: { done: count("done"), refused: count("refused"), regretted: count("regretted") },
      perSecond: recent.length / (PACE_MS / 1_000),
      retries: count("retries"),
    };
  }

  async contested(id: string, count: number): Promise<readonly ContestedRoom[]> {
    const { redis, keys } = this.#store;
    const ranked = await answered(
      "nothing",
      redis.zrevrange(keys.of(id, "contested"), 0, count - 1, "WITHSCORES"),
    );
    const ids = ranked.filter((_, at) => at % 2 === 0);
    if (ids.length === 0) return [];
    const pipeline = redis
      .pipeline()
      .hmget(keys.of(id, "rooms"), ...ids)
      .hmget(keys.of(id, "free"), ...ids);
    const [rooms, free] = (await piped(pipeline, "nothing")) as [(string | null)[], (string | null)[]];
    return ids.flatMap((roomId, at) => {
      const text = rooms[at];
      if (!text) return [];
      const { building, name, beds } = JSON.parse(text);
      return [
        {
          roomId,
          name: `${building} ${name}`,
          beds,
          free: Number(free[at]),
          turnedAway: Number(ranked[2 * at + 1]),
        },
      ];
    });
  }
}
