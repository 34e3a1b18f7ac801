/** The gem's assertions about its registry, in our words, on a clock that the test moves. */
import { ManualClock } from "@holdfast/conformance";
import { beforeEach, expect, test } from "vitest";
import { type Registration, Registry } from "../src/master-lock/index.ts";

let clock: ManualClock;
let lines: string[];
let registry: Registry;
let extended: number;
let answer: () => Promise<boolean> | boolean;
let registration: Registration;

const lock = {
  key: "key",
  extend() {
    extended += 1;
    return answer();
  },
};

beforeEach(() => {
  clock = new ManualClock();
  lines = [];
  extended = 0;
  answer = () => true;
  const log = (line: string): void => void lines.push(line);
  registry = new Registry(() => ({ debug: log, info: log, warn: log }), clock);
  registration = registry.register(lock, 1);
});

const ago = (seconds: number): Date => new Date(clock.now().wallMs - seconds * 1_000);

test("register returns what it was given, and lists it", () => {
  expect(registration).toMatchObject({ lock, extendInterval: 1, released: false, holder: { alive: true } });
  expect(registration.acquiredAt).toEqual(ago(0));
  expect(registry.locks).toEqual([registration]);
});

test("unregister marks the lock as released, and drops it at once", () => {
  registry.unregister(registration);
  expect(registration.released).toBe(true);
  expect(registry.locks).toEqual([]);
});

test("a lock that was just acquired stays and is not extended", async () => {
  await registry.extendLocks();
  expect([registry.locks.length, extended]).toEqual([1, 0]);
});

test("a lock that is older than its interval is extended, and is young again", async () => {
  registration.acquiredAt = ago(2);
  await registry.extendLocks();
  expect([extended, registration.acquiredAt]).toEqual([1, ago(0)]);
  await registry.extendLocks();
  expect([extended, registry.locks.length]).toEqual([1, 1]);
  expect(lines).toEqual(["Renewed lease on lock key"]);
});

test("a lock that was released is dropped", async () => {
  registration.released = true;
  await registry.extendLocks();
  expect([registry.locks.length, extended]).toEqual([0, 0]);
});

test("a lock whose holder has ended is dropped", async () => {
  registration.holder = { alive: false };
  await registry.extendLocks();
  expect([registry.locks.length, registration.released, extended]).toEqual([0, true, 0]);
  expect(lines).toEqual(["Releasing lock key after its owner ended"]);
});

test("a lock that could not be extended is marked and dropped", async () => {
  registration.acquiredAt = ago(2);
  answer = () => false;
  await registry.extendLocks();
  expect([registry.locks.length, registration.released]).toEqual([0, true]);
  expect(lines).toEqual(["Could not renew lease on lock key"]);
});

test("one that cannot be asked about keeps no other from being extended, and is asked again", async () => {
  registration.acquiredAt = ago(2);
  answer = () => Promise.reject(new Error("no connection"));
  const other = { key: "other", extend: () => true };
  registry.register(other, 1).acquiredAt = ago(2);
  await registry.extendLocks();
  expect(lines.sort()).toEqual([
    "Could not ask about lock key: Error: no connection",
    "Renewed lease on lock other",
  ]);
  answer = () => true;
  await registry.extendLocks();
  expect([extended, registry.locks.length, registration.acquiredAt]).toEqual([2, 2, ago(0)]);
});
