/** The ACL line of docs/guides/redis.md is enough for every call, has nothing that no call needs, and ends at its prefix. */
import { subscribe } from "node:diagnostics_channel";
import { globSync, readFileSync } from "node:fs";
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
  const held = await one.mutex("acl", { ttlMs: 300 }).acquire();
  const waiting = two.mutex("acl", { ttlMs: 300 }).acquire({ waitMs: 5_000 });
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

test("outside its prefix it is refused, with the remedy", async () => {
  const hf = new Holdfast(user, { prefix: "other" });
  await expect(hf.mutex("acl").tryAcquire()).rejects.toMatchObject({ code: "SERVER_ERROR" });
  await hf.close();
});
