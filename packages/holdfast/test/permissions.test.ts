/** The ACL line of docs/guides/redis.md is enough for every call, has nothing that no call needs, and ends at its prefix. */

import { subscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync } from "node:fs";
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probes } from "../src/doctor/permissions.js";
import { guidedUser } from "./guide.js";

const PATIENT = { timeout: 30_000 };
let server: EmbeddedValkey;
let admin: Redis;
let user: Redis;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  admin = new Redis(server.url);
  await admin.call("ACL", "SETUSER", ...guidedUser().split(/\s+/));
  user = new Redis(server.url, { username: "app", password: "secret" });
});
afterAll(async () => {
  user.disconnect();
  admin.disconnect();
  await server.stop();
});

test("locks, waiting, renewal and records work under it", async () => {
  const one = new Holdfast(user, UNHURRIED);
  const two = new Holdfast(user, UNHURRIED);
  const held = await one.mutex("acl", { ttl: 1_000 }).acquire();
  const waiting = two.mutex("acl", { ttl: 1_000 }).acquire({ wait: 5_000 });
  await new Promise((resolve) => subscribe("holdfast:lock:renewed", resolve));
  expect(held.valid).toBe(true);
  expect(await held.release()).toBe("released");
  const lease = await waiting;
  const record = one.record("acl");
  expect(await record.get({ fence: lease })).toBeNull();
  await record.put("v", { fence: lease });
  expect(await record.get()).toMatchObject({ value: "v", fence: lease.fence });
  const changes = record.watch();
  expect((await changes.next()).value).toMatchObject({ value: "v" });
  expect(await record.delete()).toBe(true);
  expect((await changes.next()).value).toBeNull();
  await two.close();
  await one.close();
});

test("queues work under it", async () => {
  const hf = new Holdfast(user, UNHURRIED);
  const queue = hf.queue<number, number>("acl", { maxLength: 9, whenFull: "drop-oldest", maxAttempts: 1 });
  const waiting = queue.receive();
  const { id } = await queue.push(1, { dedupe: { id: "one" } });
  const delivery = await waiting;
  await delivery?.extend("1m");
  const result = queue.result(id);
  await delivery?.ack(2);
  expect(await result).toMatchObject({ status: "done", result: 2 });
  await queue.pushMany([3, 4], { delay: "1h" });
  expect([await queue.pause(), await queue.resume(), await queue.drain()]).toEqual([true, true, 2]);
  await queue.pushMany([5, 6]);
  await (await queue.receive())?.nack();
  expect([await queue.peek(), await queue.dead()]).toMatchObject([[{ body: 6 }], [{ body: 5 }]]);
  expect([await queue.redrive({ all: true }), (await queue.pop())?.body]).toEqual([1, 5]);
  expect(await queue.state()).toMatchObject({ waiting: 1, order: null });
  expect(await queue.reset()).toBe(true);
  await hf.close();
});

test("events, latches and barriers work under it", async () => {
  const hf = new Holdfast(user, UNHURRIED);
  const set = hf.event("acl").wait();
  await hf.event("acl").set("x");
  expect((await set)?.data).toBe("x");
  await hf.event("acl").clear();
  const open = hf.latch("acl", 1).wait();
  await hf.latch("acl", 1, { keep: Number.POSITIVE_INFINITY }).countDown({ by: "me" });
  expect(await open).not.toBeNull();
  const parties = [1, 2].map(() => hf.barrier("acl", 2).wait());
  expect(await Promise.all(parties)).not.toContain(null);
  for (const each of [hf.event("acl"), hf.latch("acl", 1), hf.barrier("acl", 2)])
    expect(await each.delete()).toBe(true);
  await hf.close();
});

test("signals work under it, and patterns need a right of their own", async () => {
  const hf = new Holdfast(user, UNHURRIED);
  const listener = await hf.signal("acl").listen();
  expect([await hf.signal("acl").emit(1), await hf.signal("acl").emitOne(2)]).toEqual([1, true]);
  expect([(await listener.next()).value?.data, (await listener.next()).value?.data]).toEqual([1, 2]);
  await expect(hf.signals.matching("a*").listen()).rejects.toMatchObject({ serverCode: "NOPERM" });
  await admin.call("ACL", "SETUSER", "app", "+psubscribe", "+punsubscribe", "&holdfast:signal:a*");
  const all = await hf.signals.matching("a*").listen();
  await hf.signal("acl").emit(3);
  expect((await all.next()).value).toEqual({ name: "acl", data: 3 });
  await hf.close();
  await admin.call("ACL", "SETUSER", "app", "-psubscribe", "-punsubscribe");
});

test("a poll says that its right was taken away, and begins again once it is back", async () => {
  const hf = new Holdfast(user, UNHURRIED);
  const emitter = new Holdfast(server.url, UNHURRIED);
  const polled = (): Promise<unknown> =>
    hf
      .signal("polled")
      .poll()
      .catch((error: unknown) => error);
  expect(await polled()).toBeNull();
  await admin.call("ACL", "SETUSER", "app", "resetchannels", "&holdfast:inbox:*");
  await expect.poll(polled, PATIENT).toMatchObject({ serverCode: "NOPERM" });
  await admin.call("ACL", "SETUSER", "app", "resetchannels", "&holdfast:*");
  await expect.poll(polled, PATIENT).toBeNull();
  await emitter.signal("polled").emit(1);
  await expect.poll(polled, PATIENT).toMatchObject({ data: 1 });
  await emitter.close();
  await hf.close();
});

test("a guard works under it", async () => {
  const hf = new Holdfast(user, UNHURRIED);
  const guard = hf.guard("acl", { hits: 1, per: "1m", penalties: [{ kind: "busy", for: "1m" }] });
  expect([(await guard.hit("s")).ok, (await guard.hit("s")).ok, (await guard.look("s")).ok]).toEqual([
    true,
    false,
    false,
  ]);
  await guard.pardon("s");
  expect((await guard.look("s")).ok).toBe(true);
  await hf.close();
});

test("limits of every type work under it, are looked at and reset", async () => {
  await admin.call("ACL", "SETUSER", "app", "+scan");
  const hf = new Holdfast(user, UNHURRIED);
  for (const type of ["rolling", "gcra", "window", "sliding", "lifetime"] as const) {
    const limit = hf.limit("acl", { max: 3, ...(type === "lifetime" ? { type } : { type, per: "1m" }) });
    expect(await limit.take("t", 2)).toMatchObject({ ok: true, remaining: 1 });
    expect(await limit.take("t", 2)).toMatchObject({ ok: false });
    expect(await limit.refund("t")).toMatchObject({ remaining: 2 });
  }
  const inspector = await hf.inspector();
  const found = [];
  for await (const { used } of inspector.limits()) found.push(used);
  expect(found).toEqual([1, 1, 1, 1, 1]);
  await inspector.resetLimit("acl", "t");
  expect(await inspector.limit("acl", "t")).toEqual([]);
  await hf.close();
  await admin.call("ACL", "SETUSER", "app", "-scan");
});

test("a name that it may not use refuses none of the others of the same turn", async () => {
  const own = ["~holdfast:{ok*", "~holdfast:ok*", "~holdfast:place"];
  await admin.call("ACL", "SETUSER", "some", "on", ">secret", "+@all", "&*", "resetkeys", ...own);
  const client = new Redis(server.url, { username: "some", password: "secret" });
  const hf = new Holdfast(client, UNHURRIED);
  const names = ["ok1", "no", "ok2"];
  const calls: ((name: string) => Promise<unknown>)[] = [
    (name) => hf.mutex(name).acquire(),
    (name) => hf.semaphore(name, { permits: 2 }).acquire(),
    (name) => hf.limit("l", { max: 5, per: "1m" }).take(name),
    (name) => hf.signal(name).listen(),
  ];
  for (const call of calls) {
    const outcomes = await Promise.allSettled(names.map(call));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  }
  const put = await hf.records.putMany(names.map((name) => ({ name, value: 1 })));
  expect(put.map(({ ok }) => ok)).toEqual([true, false, true]);
  await hf.close();
  client.disconnect();
});

test("outside its prefix it is refused, with the remedy", async () => {
  const hf = new Holdfast(user, { ...UNHURRIED, prefix: "other" });
  await expect(hf.mutex("acl").tryAcquire()).rejects.toMatchObject({ code: "SERVER_ERROR" });
  await hf.close();
});

/** Sent by the clients, or on behalf of the scripts and of the doctor. */
const AROUND_SCRIPTS = ["eval", "evalsha", "subscribe", "unsubscribe", "info"];
/** What people ask for, with more permissions than a program needs. */
const FOR_PEOPLE = /^(doctor|inspect)\/|^limits\/lua\/look\.lua$|\/force-release\.lua$/;

/** Words in the Lua sources that are none. */
const ARGUMENTS = [
  "px",
  "nx",
  "gt",
  "keepttl",
  "withscores",
  "withvalues",
  "rev",
  "byscore",
  "limit",
  "count",
  "numsub",
  "wrongtype",
];

/** Every command in the Lua sources, and every one that is sent without a script. */
function commandsInSources(): Set<string> {
  const src = new URL("../src/", import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.(lua|ts)$/.test(file) && !file.endsWith(".lua.ts") && !FOR_PEOPLE.test(file),
  );
  const commands = files.flatMap((file) => {
    const text = readFileSync(new URL(file, src), "utf8");
    const called = file.endsWith(".lua") ? /'([A-Z]{2,})'/g : /\bcommand\(\s*\[\s*"([A-Z]+)"/g;
    return [...text.matchAll(called)].map(([, command = ""]) => command.toLowerCase());
  });
  // PING is in @connection, which the line has. The doctor's report begins with INFO, so that it needs no probe.
  const others = ["eval", "evalsha", "ping", "info", ...ARGUMENTS];
  return new Set(commands.filter((command) => !others.includes(command)));
}

test("the line allows exactly the commands that the sources send", () => {
  // Of a command with parts, such as pubsub|numsub, the first word is in the sources.
  const allowed = [...guidedUser().matchAll(/ \+([a-z]+)/g)].map(([, command]) => command);
  expect([...allowed].sort()).toEqual([...commandsInSources(), ...AROUND_SCRIPTS].sort());
});

test("the doctor asks for each of them", () => {
  const asked = new Set(probes("p:{n}").map(([command = ""]) => command.toLowerCase()));
  const sent = [...commandsInSources(), "eval", "evalsha"];
  expect([...asked].sort()).toEqual(sent.sort());
});
