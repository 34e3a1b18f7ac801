/** The ACL line of docs/guides/redis.md is enough for every call, has nothing that no call needs, and ends at its prefix. */
import { subscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync } from "node:fs";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { probes } from "../src/doctor/permissions.js";
import { guidedUser } from "./guide.js";

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

test("locks, waiting, renewal and fenced records work under it", async () => {
  const one = new Holdfast(user);
  const two = new Holdfast(user);
  const held = await one.mutex("acl", { ttl: 1_000 }).acquire();
  const waiting = two.mutex("acl", { ttl: 1_000 }).acquire({ wait: 5_000 });
  await new Promise((resolve) => subscribe("holdfast:lock:renewed", resolve));
  expect(held.valid).toBe(true);
  expect(await held.release()).toBe("released");
  const lease = await waiting;
  const record = one.fencedRecord("acl");
  expect(await record.enter(lease)).toBeNull();
  await record.write(lease, "v");
  expect(await record.read()).toEqual({ value: "v", fence: lease.fence });
  await two.close();
  await one.close();
});

test("a guard works under it", async () => {
  const hf = new Holdfast(user);
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
  const hf = new Holdfast(user);
  for (const type of ["rolling", "gcra", "window", "sliding", "lifetime"] as const) {
    const limit = hf.limit("acl", { type, max: 3, ...(type === "lifetime" ? {} : { per: "1m" }) });
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

test("outside its prefix it is refused, with the remedy", async () => {
  const hf = new Holdfast(user, { prefix: "other" });
  await expect(hf.mutex("acl").tryAcquire()).rejects.toMatchObject({ code: "SERVER_ERROR" });
  await hf.close();
});

/** Sent by the clients, or on behalf of the scripts and of the doctor. */
const AROUND_SCRIPTS = ["eval", "evalsha", "subscribe", "unsubscribe", "info"];
/** What people ask for, with more permissions than a program needs. */
const FOR_PEOPLE = /^(doctor|inspect)\/|\/(look|force-release)\.lua$/;

/** Words in the Lua sources that are none. */
const ARGUMENTS = ["px", "nx", "gt", "keepttl", "withscores", "rev", "wrongtype"];

/** Every command in the Lua sources, and every one that is sent without a script. */
function commandsInSources(): Set<string> {
  const src = new URL("../src/", import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (file) => /\.(lua|ts)$/.test(file) && !file.endsWith(".lua.ts") && !FOR_PEOPLE.test(file),
  );
  const commands = files.flatMap((file) => {
    const text = readFileSync(new URL(file, src), "utf8");
    const called = file.endsWith(".lua") ? /'([A-Z]+)'/g : /\bcommand\(\s*\[\s*"([A-Z]+)"/g;
    return [...text.matchAll(called)].map(([, command = ""]) => command.toLowerCase());
  });
  // PING is in @connection, which the line has.
  const others = ["eval", "evalsha", "ping", ...ARGUMENTS];
  return new Set(commands.filter((command) => !others.includes(command)));
}

test("the line allows exactly the commands that the sources send", () => {
  const allowed = [...guidedUser().matchAll(/ \+([a-z]\S*)/g)].map(([, command]) => command);
  expect([...allowed].sort()).toEqual([...commandsInSources(), ...AROUND_SCRIPTS].sort());
});

test("the doctor asks for each of them", () => {
  const asked = new Set(probes("p:{n}").map(([command = ""]) => command.toLowerCase()));
  const sent = [...commandsInSources(), "eval", "evalsha"];
  expect([...asked].sort()).toEqual(sent.sort());
});
