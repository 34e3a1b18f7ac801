/** A batch in Redis as the application leaves it, and single fields of it overwritten. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { differencesAcross } from "../src/check/across.js";
import { readBatch, readDirectory, type Store } from "../src/check/read.js";
import { differencesIn } from "../src/check/rules.js";
import { type BatchPart, Keys } from "../src/state/keys.js";

const keys = new Keys("planted");

type Fields = Readonly<Record<string, string | number>>;

/** Ann and Bob share room r1, Cem has a bed in r2, Dot has none. Room r3 is empty. */
const SOUND: Readonly<Partial<Record<BatchPart, Fields>>> = {
  people: { ann: "Ann", bob: "Bob", cem: "Cem", dot: "Dot" },
  rooms: { r1: room(2), r2: room(2), r3: room(4) },
  free: { r1: 0, r2: 1, r3: 4 },
  teams: { t1: team("ann", "bob"), t2: team("cem"), t3: team("dot") },
  "team-of": { ann: "t1", bob: "t1", cem: "t2", dot: "t3" },
  choices: { ann: "r1:1", bob: "r1:2", cem: "r2:1" },
  beds: { "r1:1": "ann", "r1:2": "bob", "r2:1": "cem" },
  outcomes: {
    t1: outcome(1_000, ["ann", "r1", 1], ["bob", "r1", 2]),
    t2: outcome(2_000, ["cem", "r2", 1]),
  },
};

function room(beds: number): string {
  return JSON.stringify({ building: "North", name: "101", beds });
}

export function team(...members: string[]): string {
  return JSON.stringify({ members, version: "1" });
}

export function outcome(atMs: number, ...places: [studentId: string, roomId: string, bed: number][]): string {
  const named = places.map(([studentId, roomId, bed]) => ({ studentId, roomId, bed }));
  return JSON.stringify({ state: "done", requestId: `q${atMs}`, kind: "grab", places: named, atMs });
}

export class Planted implements Store {
  readonly redis: Redis;
  readonly keys = keys;

  private constructor(redis: Redis) {
    this.redis = redis;
  }

  static async start(): Promise<Planted> {
    const valkey = await EmbeddedValkey.start();
    const redis = new Redis(valkey.url);
    onTestFinished(async () => {
      redis.disconnect();
      await valkey.stop();
    });
    const planted = new Planted(redis);
    await planted.restore();
    return planted;
  }

  /** The sound batch, and nothing else. */
  async restore(): Promise<void> {
    await this.redis.flushall();
    await this.redis.sadd(keys.batches, "b1");
    for (const [part, fields] of Object.entries(SOUND)) await this.set(part as BatchPart, fields);
    for (const number of Object.keys(SOUND.people ?? {})) await this.enter(number, "b1");
  }

  async set(part: BatchPart, fields: Fields, batchId = "b1"): Promise<void> {
    await this.redis.hset(keys.of(batchId, part), fields);
  }

  /** Into the directory. */
  async enter(number: string, batchId: string | null): Promise<void> {
    await this.redis.hset(keys.directory, number, JSON.stringify({ name: number, role: "student", batchId }));
  }

  async drop(part: BatchPart, field: string): Promise<void> {
    await this.redis.hdel(keys.of("b1", part), field);
  }

  /** Kinds of the differences, and the words that name them. */
  async found(): Promise<string[]> {
    const differences = differencesIn(await readBatch(this, "b1"));
    return differences.map(({ kind, text }) => `${kind}: ${text}`);
  }

  /** The same, of batches b1 and b2 together. */
  async foundAcross(): Promise<string[]> {
    const batches = [await readBatch(this, "b1"), await readBatch(this, "b2")];
    const differences = differencesAcross(batches, await readDirectory(this));
    return differences.map(({ kind, text }) => `${kind}: ${text}`);
  }
}
