/** `holdfast ls`, `show` and `watch` of other kinds than locks, beside a program that uses them. */
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { jsonLines } from "./printed.js";
import { startEmbedded, type TestServer } from "./servers.js";

/** Only what never comes meets it. */
const PATIENT = { timeout: 30_000 };

vi.setConfig({ testTimeout: 60_000 });

let server: TestServer;
let client: Redis;
let hf: Holdfast;
beforeAll(async () => {
  server = await startEmbedded();
  client = new Redis(server.url);
  hf = new Holdfast(client, { label: "worker\u001b[31m", callTimeout: "5s" });
});
afterEach(() => server.redis.flushall());
afterAll(async () => {
  await hf?.close();
  client?.disconnect();
  await server?.stop();
});

const { start, call: holdfast } = callerOf(() => [server.url]);
const WORKER = "worker\\\\u\\{1b\\}\\[31m";

test.each([
  { kind: "semaphore", plural: "semaphores", none: "no semaphore is held or waited for" },
  { kind: "rwlock", plural: "rwlocks", none: "no read-write lock is held or waited for" },
  { kind: "election", plural: "elections", none: "no election has a leader or a candidate" },
  { kind: "once", plural: "keys", none: "no key has an outcome or is being worked on" },
  { kind: "event", plural: "events", none: "no event was ever set" },
  { kind: "latch", plural: "latches", none: "no latch is in use" },
  { kind: "barrier", plural: "barriers", none: "no barrier is in use" },
  { kind: "signal", plural: "signals", none: "nobody waits for a signal" },
  { kind: "queue", plural: "queues", none: "no queue is in use" },
  { kind: "lanes", plural: "lanes", none: "no lanes are in use" },
])("$kind: nothing to list, and one that was never used to show", async ({ kind, plural, none }) => {
  const [listed, json, shown] = await Promise.all([
    holdfast("ls", "--kind", kind),
    holdfast("ls", "--kind", kind, "--json"),
    holdfast("show", "--kind", kind, "never\u001b[2J"),
  ]);
  expect(listed).toMatchObject({ exitCode: 0, stdout: "", stderr: `holdfast: ${none}\n` });
  expect(json).toMatchObject({ exitCode: 0, stdout: `{"${plural}":[]}\n` });
  expect(shown).toMatchObject({ exitCode: 0, stderr: "" });
  expect(shown.stdout).toMatch(/^never\\u\{1b\}\[2J\n {2}\S/);
});

test("an election, a key of once, an event and a latch as rows and in full", async () => {
  const leadership = await hf.election("main", { value: "10.0.0.1" }).campaign();
  await hf.once("bill:7", () => 1, { keep: "1h" });
  await hf.event("open").set("x");
  await hf.latch("start", 3).countDown({ by: "a\u0007" });
  const [elections, keys, events, latches, latch] = await Promise.all([
    holdfast("ls", "--kind", "election"),
    holdfast("ls", "--kind", "once"),
    holdfast("ls", "--kind", "event", "op*"),
    holdfast("ls", "--kind", "latch"),
    holdfast("show", "--kind", "latch", "start"),
  ]);
  expect(elections.stdout).toMatch(
    new RegExp(`^ELECTION .*\\nmain +${WORKER} \\S+ +${leadership?.term} +[\\d.]+ s +"10\\.0\\.0\\.1"\\n$`),
  );
  expect(keys.stdout).toMatch(/^KEY .*\nbill:7 +value +\S+Z +(1 h 0 m|59 m \d+ s)\n$/);
  expect(events.stdout).toMatch(/^EVENT .*\nopen +set +\S+Z +\d{16}\n$/);
  expect(latches.stdout).toMatch(/^LATCH .*\nstart +2 of 3 +\S+Z\n$/);
  expect(latch.stdout).toMatch(
    /^start\n +left +2 of 3\n +since +\S+Z\n +waiting +0 processes\n +counted +a\\u\{7\}\n$/,
  );
  await leadership?.resign();
});

test("a semaphore and a read-write lock as rows and in full, with those who wait", async () => {
  const semaphore = hf.semaphore("pool", { permits: 5 });
  const held = await semaphore.acquire({ permits: 3 });
  const reader = await hf.rwLock("book").read().acquire();
  const writes = hf.rwLock("book").write().acquire();
  await vi.waitFor(async () => {
    expect((await (await hf.inspector()).rwLock("book")).waiting).toBe(1);
  }, PATIENT);
  const [rows, pool, books, book] = await Promise.all([
    holdfast("ls", "--kind", "semaphore"),
    holdfast("show", "--kind", "semaphore", "pool"),
    holdfast("ls", "--kind", "rwlock"),
    holdfast("show", "--kind", "rwlock", "book"),
  ]);
  expect(rows.stdout).toMatch(new RegExp(`^SEMAPHORE .*\\npool +3 of 5 +${WORKER} \\S+ +${held.fence}\\n$`));
  expect(pool.stdout).toMatch(
    new RegExp(
      `^pool\\n +in use +3 of 5\\n +held by +.*, 3 permits, fence ${held.fence}, .* left\\n +waiting +0\\n$`,
    ),
  );
  expect(books.stdout).toMatch(
    new RegExp(`^LOCK .*\\nbook +1 reads +${WORKER} \\S+ +${reader.fence} +1\\n$`),
  );
  expect(book.stdout).toMatch(
    /^book\n +state +1 reads\n +held by .*, reads, .*\n +waiting +1\n +1 {2}.*, writes, .* ago\n$/,
  );
  await reader.release();
  await (await writes).release();
  await held.release();
});

test("a barrier and a signal show who waits", async () => {
  const end = new AbortController();
  const waits = [
    hf.barrier("round", 2).wait({ signal: end.signal }),
    hf.signal("ready").wait({ signal: end.signal }),
  ];
  const inspector = await hf.inspector();
  await expect.poll(async () => (await inspector.barrier("round")).arrived, PATIENT).toBe(1);
  await expect.poll(async () => (await inspector.signal("ready")).hearing, PATIENT).toBe(1);
  const [barrier, signal, json] = await Promise.all([
    holdfast("show", "--kind", "barrier", "round"),
    holdfast("show", "--kind", "signal", "ready"),
    holdfast("ls", "--kind", "barrier", "--json"),
  ]);
  expect(barrier.stdout).toMatch(
    new RegExp(`^round\\n +arrived +1 of 2\\n[\\s\\S]* +waiting +${WORKER} \\(`),
  );
  expect(signal.stdout).toMatch(
    new RegExp(`^ready\\n +waiting +1\\n +processes +1\\n +${WORKER} \\(.*: 1 waiting`),
  );
  expect(JSON.parse(json.stdout).barriers).toMatchObject([{ name: "round", parties: 2, arrived: 1 }]);
  end.abort();
  await Promise.allSettled(waits);
});

test("watch prints a line for each change, and ends at Ctrl-C", async () => {
  const plain = start("watch", "door", "--kind", "event", "--interval", "50ms");
  const lines = start("watch", "d*", "--kind", "event", "--interval", "50ms", "--json");
  await hf.event("door").set();
  await plain.printed(/^\S+Z door set, version \d{16}$/m);
  await lines.printed(/"set"/);
  await hf.event("door").clear();
  await plain.printed(/^\S+Z door cleared, version \d{16}$/m);
  await lines.printed(/"cleared"/);
  for (const each of [plain, lines]) each.kill("SIGINT");
  expect(await plain.ended()).toMatchObject({ exitCode: 0, stderr: "" });
  expect(jsonLines((await lines.ended()).stdout)).toMatchObject([
    { event: "set", kind: "event", state: { name: "door", isSet: true } },
    { event: "cleared", kind: "event", state: { name: "door", isSet: false } },
  ]);
});

test.each([
  { args: ["ls", "--kind", "lease"], says: "--kind" },
  { args: ["ls", "--kind", "event", "--all"], says: "--all is for locks" },
])("$args: exit code 64", async ({ args, says }) => {
  const { exitCode, stderr } = await holdfast(...args);
  expect(exitCode).toBe(64);
  expect(stderr).toContain(says);
});
