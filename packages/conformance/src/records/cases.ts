/** Every case that a record must pass. */
import assert from "node:assert/strict";
import {
  ConflictError,
  IndeterminateError,
  ServerError,
  StaleTokenError,
  type VersionedRecord,
} from "holdfast";
import type { NounCase } from "../case.js";
import { outcome } from "../outcome.js";
import { rejection } from "../rejection.js";
import { until, within } from "../wait.js";
import { bulkCases } from "./bulk.js";
import { turnCases } from "./turns.js";

const TIMEOUT_MS = 300;

async function assertConflict(call: Promise<unknown>, version: bigint, value: unknown): Promise<void> {
  const error = await rejection(call);
  assert.ok(error instanceof ConflictError, `ConflictError, not ${String(error)}`);
  assert.deepEqual([error.code, error.version, error.value], ["CONFLICT", version, value]);
}

const add = (value: number | null): number => (value ?? 0) + 1;

const alone: readonly NounCase[] = [
  {
    name: "a write on an old version is refused with what is there, and one on the new version succeeds",
    covers: [
      "Curator: TestSharedCount.testSimpleVersioned",
      "Curator: TestSharedCount.testMultiClientVersioned",
    ],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [a, b] = [(await lab.holdfast()).record(name), (await lab.holdfast()).record(name)];
      const first = await a.put({ of: "a" });
      assert.deepEqual(await b.get(), { value: { of: "a" }, version: first.version, fence: 0n });
      const second = await b.put({ of: "b" }, { version: first.version });
      assert.ok(second.version > first.version);
      await assertConflict(a.put({ of: "a", again: true }, { version: first.version }), second.version, {
        of: "b",
      });
      await assertConflict(a.delete({ version: first.version }), second.version, { of: "b" });
      await a.put(null, { version: second.version });
      assert.equal((await b.get())?.value, null);
    },
  },
  {
    name: "of those who write a first value one succeeds, and the others see it",
    covers: ["Curator: TestSharedCount.testMultiClientDifferentSeed"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const records: VersionedRecord<number>[] = [];
      for (let at = 0; at < 4; at += 1) records.push((await lab.holdfast()).record<number>(name));
      const puts = await Promise.allSettled(records.map((record, at) => record.put(at, { version: 0n })));
      const winners = puts.flatMap(({ status }, at) => (status === "fulfilled" ? [at] : []));
      assert.equal(winners.length, 1);
      for (const record of records) assert.equal((await record.get())?.value, winners[0]);
    },
  },
  {
    name: "a version never comes again after a delete",
    covers: [
      "ZooKeeper: versions begin again after delete and create",
      "etcd: a revision is never used again",
    ],
    needs: [],
    async run(lab) {
      const record = (await lab.holdfast()).record<number>(lab.name());
      const { version } = await record.put(1);
      assert.equal(await record.delete(), true);
      assert.equal(await record.delete(), false);
      assert.equal(await record.get(), null);
      await assertConflict(record.put(2, { version }), 0n, null);
      const next = await record.put(2, { version: 0n });
      assert.ok(next.version > version);
    },
  },
  {
    name: "a version and a fence may be given together: the fence is looked at first, and either refuses the whole",
    covers: [],
    needs: [],
    async run(lab) {
      const record = (await lab.holdfast()).record<string>(lab.name());
      const fence = (token: bigint) => ({ fence: { fence: token, id: "holder" } });
      const { version } = await record.put("mine", { ...fence(5n), version: 0n });
      assert.ok((await rejection(record.put("x", { ...fence(4n), version: 1n }))) instanceof StaleTokenError);
      assert.ok((await rejection(record.put("x", { ...fence(4n), version }))) instanceof StaleTokenError);
      await assertConflict(record.put("x", { ...fence(9n), version: 1n }), version, "mine");
      assert.deepEqual(await record.get(), { value: "mine", version, fence: 5n });
      assert.equal((await record.get(fence(9n)))?.value, "mine");
      assert.ok((await rejection(record.delete(fence(5n)))) instanceof StaleTokenError);
      assert.equal(await record.delete({ ...fence(9n), version }), true);
      assert.ok((await rejection(record.put("x", fence(5n)))) instanceof StaleTokenError);
    },
  },
  {
    name: "every update of every process is in the value once",
    covers: ["Redis: WATCH belongs to a connection, and cannot be used on a shared one"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const records: VersionedRecord<number>[] = [];
      for (let at = 0; at < 4; at += 1) records.push((await lab.holdfast()).record<number>(name));
      await Promise.all(records.flatMap((record) => Array.from({ length: 10 }, () => record.update(add))));
      assert.equal((await records[0]?.get())?.value, 40);
    },
  },
  {
    name: "a put whose answer is lost is there once, whether or not its client sends it again",
    covers: ["ioredis: resends what a broken connection swallowed"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const name = lab.name();
      const record = (await lab.holdfast({ through: proxy })).record<string>(name);
      const other = (await lab.holdfast()).record<string>(name);
      await record.put("before"); // the script is loaded
      const { version } = await record.put("old");
      proxy.set({ down: "hold" });
      const put = record.put("new", { version }).catch((error: unknown) => error);
      await proxy.whenAnswerHeld();
      const written = await other.get();
      assert.equal(written?.value, "new");
      const later = await other.put("later");
      proxy.cut();
      proxy.heal();
      const outcome = await within(put, "the put is answered");
      // It was carried out: a client that gave up does not know, and none may say that it was refused.
      if (outcome instanceof Error) assert.ok(outcome instanceof IndeterminateError, String(outcome));
      else assert.deepEqual(outcome, { version: written?.version });
      assert.deepEqual(await other.get(), { value: "later", version: later.version, fence: 0n });
    },
  },
  {
    name: "an update whose answer is lost is made once",
    covers: ["increments that a client sends twice"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const name = lab.name();
      const record = (await lab.holdfast({ through: proxy })).record<number>(name);
      const other = (await lab.holdfast()).record<number>(name);
      await record.update(add);
      const update = record.update((value) => {
        if (proxy.dropped("down") === 0) proxy.set({ down: "hold" });
        return add(value);
      });
      await until("it is written", async () => (await other.get())?.value === 2);
      await other.update(add);
      proxy.cut();
      proxy.heal();
      assert.equal((await within(update, "the update is answered")).value, 2);
      assert.equal((await other.get())?.value, 3);
    },
  },
  {
    name: "without a server every call ends within its time, and what was not answered is unknown",
    covers: [],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const clock = lab.manualClock();
      const hf = await lab.holdfast({ clock, through: proxy, callTimeout: TIMEOUT_MS });
      const record = hf.record<number>(lab.name());
      await record.put(1);
      proxy.set({ up: "hold" });
      const fence = { fence: 1n, id: "a" };
      const calls = [
        record.get(),
        record.get({ fence }),
        record.put(2),
        record.delete(),
        record.update(add),
      ].map(rejection);
      const { passedMs } = await outcome(Promise.all(calls), clock, 50);
      for (const call of calls) assert.ok((await call) instanceof IndeterminateError);
      assert.ok(passedMs <= 2 * TIMEOUT_MS, `${passedMs} ms`);
    },
  },
  {
    name: "a watch begins with what is there, yields what is newer, and null when it is gone",
    covers: ["Curator: TestSharedCount.testMultiClients"],
    needs: [],
    async run(lab) {
      const name = lab.name();
      const [record, watched] = [(await lab.holdfast()).record(name), (await lab.holdfast()).record(name)];
      const { version } = await record.put("first");
      const changes = watched.watch();
      const next = async () => (await within(changes.next(), "a change comes")).value;
      assert.deepEqual(await next(), { value: "first", version });
      const second = await record.put("second");
      assert.deepEqual(await next(), { value: "second", version: second.version });
      await record.delete();
      assert.equal(await next(), null);
      await changes.return?.();
      assert.equal((await changes.next()).done, true);
    },
  },
  {
    name: "a watch yields what changed while its connection was broken, and nothing when nothing changed",
    covers: ["Curator: TestSharedCount.testDisconnectReconnectEventDoesNotFireValueWatcher"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const name = lab.name();
      const record = (await lab.holdfast()).record<number>(name);
      const changes = (await lab.holdfast({ through: proxy })).record<number>(name).watch();
      await record.put(1);
      const seen: (number | null)[] = [];
      const reading = (async () => {
        for await (const change of changes) seen.push(change?.value ?? null);
      })();
      await until("it is seen", () => seen.at(-1) === 1);
      proxy.cut();
      proxy.cut("inbox");
      await record.put(2);
      await until("the change is seen", () => seen.at(-1) === 2);
      proxy.cut();
      await record.put(3);
      await until("the next is seen", () => seen.at(-1) === 3);
      await changes.return?.();
      await reading;
      assert.deepEqual(seen, [...new Set(seen)]);
    },
  },
  {
    name: "a key of another program is left as it is",
    covers: [],
    needs: [],
    async run(lab) {
      const record = (await lab.holdfast()).record<number>(lab.name());
      await lab.command("SET", record.key, "x");
      for (const call of [record.get(), record.put(1), record.delete(), record.update(add)]) {
        const error = await rejection(call);
        assert.ok(error instanceof ServerError, String(error));
        assert.equal(error.serverCode, "WRONGTYPE");
      }
      assert.equal(String(await lab.command("GET", record.key)), "x");
    },
  },
  {
    name: "a server that comes back without its memory has no record, and goes on with larger versions",
    covers: [],
    needs: ["restart"],
    async run(lab) {
      const record = (await lab.holdfast({ callTimeout: 2_000 })).record<number>(lab.name());
      const { version } = await record.put(1);
      await lab.restartServer();
      const next = await until("it is written again", () => record.put(2, { version: 0n }).catch(() => null));
      assert.ok(next.version > version);
    },
  },
];

export const recordCases: readonly NounCase[] = [...alone, ...turnCases, ...bulkCases];
