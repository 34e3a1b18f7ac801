/** Students: accounts are in PostgreSQL, and a directory of them in Redis answers the frequent questions. */
import type { Kysely } from "kysely";
import { hashPassword, isPassword } from "../data/passwords.js";
import type { Tables } from "../data/tables.js";
import type { Student } from "../domain/student.js";
import { answered, piped, type Store } from "./store.js";

interface Entry {
  readonly name: string;
  readonly role: Student["role"];
  readonly batchId: string | null;
}

export class Students {
  readonly #store: Store;
  readonly #db: Kysely<Tables>;
  /** Compared with when there is no such student, so that the answer takes the same time. */
  #nobody: Promise<string> | null = null;

  constructor(store: Store, db: Kysely<Tables>) {
    this.#store = store;
    this.#db = db;
  }

  async find(number: string): Promise<Student | null> {
    const text = await answered("nothing", this.#store.redis.hget(this.#store.keys.directory, number));
    return text === null ? null : { id: number, ...(JSON.parse(text) as Entry) };
  }

  async verify(number: string, password: string): Promise<Student | null> {
    const row = await answered(
      "nothing",
      this.#db.selectFrom("students").selectAll().where("number", "=", number).executeTakeFirst(),
    );
    this.#nobody ??= hashPassword("nobody");
    const isRight = await isPassword(password, row?.password ?? (await this.#nobody));
    if (!row || !isRight) return null;
    return {
      id: row.number,
      name: row.name,
      role: row.role === "admin" ? "admin" : "student",
      batchId: row.batch_id,
    };
  }

  async ofBatch(batchId: string): Promise<readonly Student[]> {
    const { redis, keys } = this.#store;
    const [people] = await piped(redis.pipeline().hgetall(keys.of(batchId, "people")), "nothing");
    return Object.entries(people as Record<string, string>)
      .map(([id, name]): Student => ({ id, name, role: "student", batchId }))
      .sort((one, other) => one.id.localeCompare(other.id));
  }
}
