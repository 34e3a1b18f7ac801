/** Answers of another shape, and answers to another call, are no answers. */
import { describe, expect, test } from "vitest";
import { ChargeSender } from "../src/limits/charges.js";
import { parseLimitOptions } from "../src/limits/settings.js";
import { parseAcquireMany, parseFirst } from "../src/locks/backends/redis/lock-scripts.js";
import { parseVerdict } from "../src/locks/backends/redis/verdicts.js";
import type { VersionedRecord } from "../src/records/record.js";
import { RecordStore } from "../src/records/record-store.js";
import { Records } from "../src/records/records.js";
import type { Place } from "../src/redis/place.js";
import type { RedisPort, Reply } from "../src/redis/port.js";
import type { Watcher } from "../src/redis/watcher.js";
import { systemClock } from "../src/time/clock.js";
import { systemRandom } from "../src/time/random.js";
import { Schedule } from "../src/time/schedule.js";

const TOKEN = "1795262297451817";
const HELD = `${TOKEN} b ${TOKEN} ${TOKEN} 86400000 1000 {"host":"h","pid":1,"label":""}`;
const SENT_AT = { monoMs: 1, wallMs: 1 };
const indeterminate = expect.objectContaining({ code: "INDETERMINATE" });

const granted = { kind: "granted", token: BigInt(TOKEN) };

describe("an answer of acquire-many", () => {
  test("is a grant only for the id that it names", () => {
    expect(parseAcquireMany(`${TOKEN}a`, ["a"])).toEqual({ verdicts: [granted], ticket: TOKEN });
    expect(parseAcquireMany([`${TOKEN}a`, `${TOKEN}x`, TOKEN], ["a", "b"]).verdicts).toEqual([granted, null]);
    expect(parseAcquireMany(`${TOKEN}x`, ["a"]).verdicts).toEqual([null]);
  });

  test("of another shape is no answer", () => {
    for (const reply of ["QUEUED", "5", "", null, 1, [], [`${TOKEN}a`], [`${TOKEN}a`, "now"]]) {
      expect(() => parseAcquireMany(reply, ["a"])).toThrow(indeterminate);
      expect(() => parseFirst(reply, "a", SENT_AT)).toThrow(indeterminate);
    }
    expect(() => parseFirst("not of 16 digitsa", "a", SENT_AT)).toThrow(indeterminate);
  });

  test("to a lone claim is the same", () => {
    const answers = [`${TOKEN}a`, `${TOKEN}x`, [`${TOKEN}a`, TOKEN], [[HELD, 900], TOKEN], ["", TOKEN]];
    for (const reply of answers) {
      const { verdicts, ticket } = parseAcquireMany(reply, ["a"]);
      expect(parseFirst(reply, "a", SENT_AT)).toEqual({ verdict: verdicts[0], sentAt: SENT_AT, ticket });
    }
  });

  test("says who holds, unless only acquire can tell: lapsed, or longer than its ttl", () => {
    const seen = (leftMs: number, id = "a") => parseAcquireMany([[HELD, leftMs], TOKEN], [id]).verdicts[0];
    expect(seen(900)).toMatchObject({ kind: "busy", leftMs: 900, owner: { host: "h" } });
    expect([seen(0), seen(-5), seen(3_600_000)]).toEqual([null, null, null]);
    expect(seen(900, "b")).toEqual(granted); // sent twice by the client
    expect(parseAcquireMany(["", TOKEN], ["a"]).verdicts).toEqual([null]);
  });
});

test("a grant of acquire or heartbeat is believed only for the id that it names", () => {
  expect(parseVerdict([1, TOKEN, "a"], "a")).toEqual(granted);
  expect(() => parseVerdict([1, TOKEN, "b"], "a")).toThrow(indeterminate);
  expect(() => parseVerdict([1, TOKEN], "a")).toThrow(indeterminate);
});

test("a text answers no more than one charge that travels alone", async () => {
  const charge = (sender: ChargeSender): Promise<unknown> =>
    new Promise((answered, failed) => {
      const settings = parseLimitOptions("rides", { max: 3, per: "1s" });
      const one = { settings, target: "ada", key: "key", cost: 1, atUs: null };
      sender.one(one, 1_000, null, { answered, failed });
    });
  const ask = (reply: Reply, charges: number): Promise<unknown> => {
    const port: Pick<RedisPort, "ask" | "slotOf"> = {
      ask: (_script, _words, _timeoutMs, listener) => listener.replied(reply),
      slotOf: () => 0,
    };
    const sender = new ChargeSender(port, systemRandom, "holdfast");
    return Promise.all(Array.from({ length: charges }, () => charge(sender)));
  };
  expect(await ask("1700000000000000 2 400", 1)).toMatchObject([{ ok: true, remaining: 2, resetUs: 400 }]);
  for (const reply of ["QUEUED", "5", "1 2", null, 1, [], [1, 2, 3, 4]])
    await expect(ask(reply, 1)).rejects.toThrow(indeterminate);
  await expect(ask("1700000000000000 2 400", 2)).rejects.toThrow(indeterminate);
});

describe("an answer to a holder at a record", () => {
  const record = (reply: Reply): VersionedRecord => {
    const port = { script: async () => reply } as unknown as RedisPort;
    const watcher = {} as Watcher;
    const schedule = new Schedule(systemClock);
    const context = {
      port,
      prefix: "holdfast",
      callTimeoutMs: 1_000,
      random: systemRandom,
      schedule,
      watcher,
      place: { word: "" } as Place,
      self: { host: "", pid: 1, label: "" },
    };
    return new Records(new RecordStore(context), context).record("it");
  };
  const fence = { fence: 5n, id: "a" };

  test("of another shape is no answer, and a write that it follows is not taken for done", async () => {
    for (const reply of [
      [],
      ["QUEUED"],
      [2],
      [0, "x"],
      [0],
      [1, 2, 3, 4],
      [null],
      ["OK", 1],
      "OK",
      null,
      1,
    ]) {
      await expect(record(reply).get({ fence })).rejects.toEqual(indeterminate);
      for (const row of [reply, [reply]])
        await expect(record(row).put("v", { fence })).rejects.toEqual(indeterminate);
    }
    await expect(record([[1]]).put("v", { fence })).rejects.toEqual(indeterminate);
    await expect(record([[3]]).put("v", { fence })).rejects.toEqual(indeterminate); // one to delete()
  });

  test("counts also with its numbers as text", async () => {
    expect(await record(["1", null]).get({ fence })).toBeNull();
    expect(await record([["1", TOKEN]]).put("v", { fence })).toEqual({ version: BigInt(TOKEN) });
    for (const refused of [record(["0", "7"]).get({ fence }), record([["0", "7"]]).put("v", { fence })])
      await expect(refused).rejects.toMatchObject({ code: "STALE_TOKEN", seen: 7n });
  });
});
