/** What a program holds, in a log: as JSON, and as console.log shows it. */

import { inspect } from "node:util";
import { UNHURRIED } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { AcquireTimeoutError, Holdfast, LeaseLostError, ResultNotStoredError } from "holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";

let server: EmbeddedValkey;
let redis: Redis;
let hf: Holdfast;

beforeAll(async () => {
  server = await EmbeddedValkey.start();
  redis = new Redis(server.url);
  hf = new Holdfast(redis, UNHURRIED);
});

afterAll(async () => {
  await hf.close();
  redis.disconnect();
  await server.stop();
});

const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("a lease", async () => {
  const lease = await hf.mutex("shown").acquire();
  const { name, fence, id } = lease;
  const told = { name, fence: String(fence), id };
  expect(parsed(lease)).toEqual({ ...told, valid: true, remainingMs: expect.any(Number) });
  expect(inspect(lease, { breakLength: Number.POSITIVE_INFINITY })).toMatch(
    new RegExp(`^Lease { name: 'shown', fence: ${fence}n, id: '${id}', valid: true, remainingMs: [\\d.]+ }$`),
  );
  await lease.release();
  expect(parsed(lease)).toEqual({ ...told, valid: false, remainingMs: 0 });
  expect(inspect({ job: { lease } }, { depth: 1 })).toContain("[Lease]");
});

test("a re-entry is shown as the lease that it is", async () => {
  const mutex = hf.mutex("again", { reentrant: true });
  await mutex.run(async (outer) => {
    const inner = await mutex.acquire();
    expect(parsed(inner)).toMatchObject({ name: "again", fence: String(outer.fence), valid: true });
    expect(inspect(inner)).toMatch(/^Lease {/);
  });
});

test("several leases", async () => {
  const multi = await hf.multiLock([hf.mutex("a"), hf.semaphore("b", { permits: 1 })]).acquire();
  const leases = [{ name: "a" }, { name: "b" }];
  expect(parsed(multi)).toMatchObject({ leases, valid: true, remainingMs: expect.any(Number) });
  expect(inspect(multi)).toMatch(/^MultiLease {\s+leases: \[\s+Lease {\s+name: 'a'/);
  await multi.release();
});

test("a leadership", async () => {
  const leadership = await hf.election("boss", { value: { host: "here" } }).campaign();
  const { term } = leadership;
  const told = { election: "boss", id: leadership.id, value: { host: "here" }, valid: true };
  expect(parsed(leadership)).toMatchObject({ ...told, term: String(term) });
  expect(inspect(leadership)).toMatch(new RegExp(`^Leadership {\\s+election: 'boss',\\s+term: ${term}n`));
  await leadership.resign();
});

test("a delivery, without its body", async () => {
  const queue = hf.queue("orders");
  await queue.pushMany([{ card: "4111" }, { card: "4222" }]);
  const [delivery, other] = [await queue.receive(), await queue.receive()];
  const { id, token } = delivery ?? {};
  const told = { id, token: String(token), attempt: 1, isLive: true, remainingMs: expect.any(Number) };
  expect(parsed(delivery)).toEqual(told);
  expect(inspect(delivery)).toMatch(/^Delivery {\s+id: '/);
  expect(inspect(delivery)).not.toContain("4111");
  await delivery?.ack();
  await other?.ack();
  const lanes = hf.lanes("steps");
  await lanes.push("user:7", 1);
  const step = await lanes.receive();
  expect(parsed(step)).toMatchObject({ lane: "user:7", attempt: 1 });
  await step?.ack();
});

test("an error, with its bigints and without its stack", () => {
  const owner = { host: "h", pid: 1, label: "", sinceMs: 5, fence: 7n };
  const message = expect.any(String);
  expect(parsed(new LeaseLostError("l", 2n ** 60n, "expired"))).toEqual({
    name: "LeaseLostError",
    code: "LEASE_LOST",
    message,
    lock: "l",
    fence: "1152921504606846976",
    reason: "expired",
    lateMs: 0,
  });
  expect(parsed(new AcquireTimeoutError("l", 5, owner as never))).toMatchObject({
    owner: { ...owner, fence: "7" },
  });
  const value: Record<string, unknown> = {};
  value.self = value;
  const told = parsed(new ResultNotStoredError({ key: "k", fence: 1n, value, reason: "overtaken" }));
  expect(told).toEqual({ name: "ResultNotStoredError", code: "RESULT_NOT_STORED", message });
});
