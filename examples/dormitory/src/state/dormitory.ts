/** Makes the application over one Redis and one PostgreSQL. */
import type { Consumer, Duration, Holdfast } from "holdfast";
import type { Redis } from "ioredis";
import type { Kysely } from "kysely";
import { BatchRows } from "../data/batch-rows.js";
import { connectDatabase } from "../data/connection.js";
import type { Tables } from "../data/tables.js";
import { Judge } from "../deciders/judge.js";
import { LaneDecider } from "../deciders/lanes.js";
import { LockDecider } from "../deciders/locks.js";
import type { Dormitory } from "../domain/service.js";
import type { Setup } from "../setup.js";
import { Batches } from "./batches.js";
import { Decisions } from "./decisions.js";
import { Imports } from "./imports.js";
import type { Keys } from "./keys.js";
import { Rooms } from "./rooms.js";
import { Selection } from "./selection.js";
import { Store } from "./store.js";
import { Students } from "./students.js";
import { Teams } from "./teams.js";

export interface OpenDormitory extends Dormitory {
  readonly hf: Holdfast;
  readonly redis: Redis;
  readonly db: Kysely<Tables>;
  readonly keys: Keys;
  readonly prefix: string;
  /** Works off the lanes, up to `concurrency` batches at a time. */
  decideLanes(concurrency: number): Consumer;
}

export interface DormitoryOptions {
  /** For how long a decision waits for each of its locks. @default 20 s for the batch, 10 s for a student or a room */
  readonly lockWait?: Duration;
}

export function openDormitory(
  setup: Pick<Setup, "redisUrl" | "postgresUrl" | "prefix">,
  { lockWait }: DormitoryOptions = {},
): OpenDormitory {
  const store = new Store(setup.redisUrl, setup.prefix);
  const db = connectDatabase(setup.postgresUrl);
  const rooms = new Rooms(store);
  const batches = new Batches(store, new BatchRows(db));
  const students = new Students(store, db);
  const teams = new Teams(store, rooms);
  const judge = new Judge(store, rooms);
  const locks = new LockDecider(store.hf, judge, lockWait);
  const selection = new Selection({ store, locks, decisions: new Decisions(store), students });
  const imports = new Imports({ db, batches, store, rooms });
  return {
    hf: store.hf,
    redis: store.redis,
    keys: store.keys,
    prefix: setup.prefix,
    db,
    batches,
    students: {
      find: (number) => students.find(number),
      verify: (number, password) => students.verify(number, password),
      ofBatch: (batchId) => students.ofBatch(batchId),
      importCsv: (batchId, csv, by) => imports.students(batchId, csv, by),
    },
    rooms: {
      of: (batchId) => rooms.of(batchId),
      importCsv: (batchId, csv, by) => imports.rooms(batchId, csv, by),
    },
    teams: {
      of: (student) => teams.of(student),
      invite: (from, toNumber) => teams.invite(from, toNumber),
      accept: (student, invitationId) => teams.accept(student, invitationId),
      refuse: (student, invitationId) => teams.refuse(student, invitationId),
      leave: (student) => teams.leave(student),
      setWishes: (student, roomIds, version) => teams.setWishes(student, roomIds, version),
      importWishes: (batchId, csv, by) => imports.wishes(batchId, csv, by),
    },
    selection: {
      grab: (student, requestId) => selection.ask(student, { kind: "grab" }, requestId),
      pick: (student, roomId, requestId) => selection.ask(student, { kind: "pick", roomId }, requestId),
      regret: (student, requestId) => selection.ask(student, { kind: "regret" }, requestId),
      ticket: (student) => selection.ticket(student),
      watch: (student, signal) => selection.watch(student, signal),
    },
    decideLanes: (concurrency) => new LaneDecider(store.hf, judge, locks).start(concurrency),
    close: async () => {
      await store.close();
      await db.destroy();
    },
  };
}
