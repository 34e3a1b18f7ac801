/** Arguments: everything that can never work is refused at once, by a typed error that names it. */
import assert from "node:assert/strict";
import { Holdfast, InvalidArgumentError, UnsupportedClientError } from "holdfast";
import type { LockCase } from "../case.js";
import { rejection } from "./rivals.js";

type Bag = Record<string, unknown>;

const WRONG_NAMES: unknown[] = [undefined, null, 5, {}, "", "}x", "\ud800", "x".repeat(513)];

const WRONG_TERMS: readonly [argument: string, options: Bag][] = [
  ...[
    99,
    0,
    -1,
    1.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 31,
    "10",
    "10 s",
    "abc",
    "",
    {},
    null,
    10n,
  ].map((ttl): [string, Bag] => ["ttl", { ttl }]),
  ...[0, -1, 1.5, 1_001, "3", null].map((localTurns): [string, Bag] => ["localTurns", { localTurns }]),
  ...[0, -1, 1.5, Number.NaN, "x"].map((maxHold): [string, Bag] => ["maxHold", { maxHold }]),
  ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31].map((lockDelay): [string, Bag] => [
    "lockDelay",
    { lockDelay },
  ]),
  ["ttlMs", { ttlMs: 5_000 }],
  ["wait", { wait: 5_000 }],
];

const WRONG_WAITS: readonly [argument: string, options: Bag][] = [
  ...[-1, 1.5, Number.NaN, "soon", null].map((wait): [string, Bag] => ["wait", { wait }]),
  ...[{}, 5, null, new AbortController()].map((signal): [string, Bag] => ["signal", { signal }]),
  ...[5, "5", null, -1n, -5n, 2n ** 53n].map((floor): [string, Bag] => ["floor", { floor }]),
  ["timeout", { timeout: 5_000 }],
];

const WRONG_SETTINGS: readonly [argument: string, options: Bag][] = [
  ...["", "a b", "{a}", 5, null].map((prefix): [string, Bag] => ["prefix", { prefix }]),
  ...[5, null, "x".repeat(201)].map((label): [string, Bag] => ["label", { label }]),
  ...[0, -1, 1.5, "x", Number.POSITIVE_INFINITY, null].map((callTimeout): [string, Bag] => [
    "callTimeout",
    { callTimeout },
  ]),
];

const WRONG_CLIENTS: readonly unknown[] = [
  undefined,
  null,
  5,
  true,
  {},
  [],
  () => {},
  new Map(),
  { get: () => {}, set: () => {} },
  { defineCommand: () => {}, call: () => {}, isCluster: true },
  { sendCommand: () => {}, evalSha: () => {}, slots: [] },
  { sendCommand: () => {}, evalSha: () => {}, acquire: () => {} },
  { sendCommand: () => {}, evalSha: () => {}, totalClients: 1 },
  { customCommand: () => {}, invokeScript: () => {} },
];

function assertNames(error: unknown, argument: string, given: unknown): void {
  assert.ok(error instanceof InvalidArgumentError, `${argument} ${String(given)}: ${String(error)}`);
  assert.equal(error.code, "INVALID_ARGUMENT");
  assert.equal(error.argument, argument);
  assert.ok(error.message.startsWith(`${argument} `), error.message);
}

function thrown(call: () => unknown, given: unknown): unknown {
  let value: unknown;
  try {
    value = call();
  } catch (error) {
    return error;
  }
  return assert.fail(`accepted ${String(given)}, and gave ${String(value)}`);
}

const client = { defineCommand: () => {}, call: () => {}, duplicate: () => {}, on: () => {} };

export const validationCases: readonly LockCase[] = [
  {
    name: "names that cannot be kept apart are refused",
    covers: ["DistributedLock: TestGetSafeName"],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      for (const name of WRONG_NAMES) {
        assertNames(
          thrown(() => holdfast.mutex(name as never), name),
          "name",
          name,
        );
        assertNames(
          thrown(() => holdfast.fencedRecord(name as never), name),
          "name",
          name,
        );
      }
    },
  },
  {
    name: "a mutex refuses options that can never work, and options that it does not have",
    covers: ["node-redlock: non-integer duration refused", "master_lock: argument errors"],
    needs: [],
    async run(lab) {
      const holdfast = await lab.holdfast();
      for (const [argument, options] of WRONG_TERMS) {
        const error = thrown(() => holdfast.mutex("name", options as never), JSON.stringify(options, show));
        assertNames(error, argument, options[argument]);
      }
      assertNames(
        thrown(() => holdfast.mutex("name", null as never), null),
        "options",
        null,
      );
      const terms = { ttl: 2 ** 31 - 1, lockDelay: 1 };
      assertNames(
        thrown(() => holdfast.mutex("name", terms), "too much"),
        "lockDelay",
        1,
      );
      holdfast.mutex("name", { ttl: "500ms", maxHold: "1h", lockDelay: "0ms", localTurns: 1_000 });
      holdfast.mutex("name", { ttl: 100, maxHold: Number.POSITIVE_INFINITY });
    },
  },
  {
    name: "acquire, tryAcquire and run refuse what can never work, and send nothing",
    covers: ["DistributedLock: TestTimeouts, argument checks"],
    needs: ["proxy"],
    async run(lab) {
      const proxy = await lab.proxy();
      const mutex = (await lab.holdfast({ through: proxy })).mutex(lab.name());
      proxy.forget();
      for (const [argument, options] of WRONG_WAITS) {
        assertNames(await rejection(mutex.acquire(options as never)), argument, options[argument]);
        assertNames(await rejection(mutex.run(() => {}, options as never)), argument, options[argument]);
      }
      for (const floor of [5, "5", null, -1n, 2n ** 53n]) {
        assertNames(await rejection(mutex.tryAcquire({ floor } as never)), "floor", floor);
      }
      for (const work of [undefined, null, 5, {}]) {
        assertNames(await rejection(mutex.run(work as never)), "work", work);
      }
      assertNames(await rejection(mutex.acquire(null as never)), "options", null);
      assert.equal(proxy.requests.length, 0);
      assert.equal(await mutex.run(() => 1, { wait: "10s" }), 1);
      assert.equal(await mutex.run(() => 2, { floor: 0n, wait: Number.POSITIVE_INFINITY }), 2);
    },
  },
  {
    name: "tryAcquire refuses options of a wait, which it would not honour",
    covers: [],
    needs: [],
    async run(lab) {
      const mutex = (await lab.holdfast()).mutex(lab.name());
      assertNames(await rejection(mutex.tryAcquire({ wait: 5 } as never)), "wait", 5);
      const signal = AbortSignal.abort();
      assertNames(await rejection(mutex.tryAcquire({ signal } as never)), "signal", "aborted");
    },
  },
  {
    name: "a Holdfast refuses settings that can never work, and settings that it does not have",
    covers: ["DistributedLock: options builder validation"],
    needs: [],
    async run() {
      for (const [argument, options] of WRONG_SETTINGS) {
        const error = thrown(() => new Holdfast(client, options as never), JSON.stringify(options, show));
        assertNames(error, argument, options[argument]);
      }
      assertNames(
        thrown(() => new Holdfast(client, null as never), null),
        "options",
        null,
      );
      assertNames(
        thrown(() => new Holdfast(client, { timeout: 1 } as never), "timeout"),
        "timeout",
        1,
      );
      assertNames(
        thrown(() => new Holdfast(client, { clock: {} } as never), "clock"),
        "clock",
        {},
      );
      assertNames(
        thrown(() => new Holdfast(client, { random: {} } as never), "random"),
        "random",
        {},
      );
    },
  },
  {
    name: "a missing or wrong client fails at construction, by an error that says what to pass",
    covers: ["node-redlock #163, #286, #282: opaque quorum errors for node-redis clients"],
    needs: [],
    async run() {
      for (const wrong of WRONG_CLIENTS) {
        const error = thrown(() => new Holdfast(wrong as never), wrong);
        assert.ok(error instanceof UnsupportedClientError, `${String(wrong)}: ${String(error)}`);
        assert.equal(error.code, "UNSUPPORTED_CLIENT");
        assert.match(error.message, /pass /);
      }
      for (const url of ["", "no url", "http://localhost", "localhost:6379"]) {
        assertNames(
          thrown(() => new Holdfast(url), url),
          "url",
          url,
        );
      }
    },
  },
];

function show(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}
