/** Arguments: everything that can never work is refused at once, by a typed error that names it. No server is involved. */
import { CountMismatchError, Holdfast, InvalidArgumentError, UnsupportedClientError } from "holdfast";
import { expect, test } from "vitest";

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
  ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 10_001, "11s", "x", null].map(
    (linger): [string, Bag] => ["linger", { linger }],
  ),
  ["linger", { ttl: 300, linger: 101 }],
  ["linger", { linger: 1, localTurns: 1 }],
  ["ttlMs", { ttlMs: 5_000 }],
  ["wait", { wait: 5_000 }],
];

const WRONG_WAITS: readonly [argument: string, options: Bag][] = [
  ...[-1, 1.5, Number.NaN, "soon", null].map((wait): [string, Bag] => ["wait", { wait }]),
  ...[{}, 5, null, new AbortController()].map((signal): [string, Bag] => ["signal", { signal }]),
  ...[5, "5", null, -1n, -5n, 10n ** 16n].map((floor): [string, Bag] => ["floor", { floor }]),
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

let sent = 0;
const send = () => {
  sent += 1;
  return Promise.reject(new Error("no command was expected"));
};
const client = { defineCommand: () => {}, call: send, duplicate: () => {}, on: () => {} };
const holdfast = new Holdfast(client as never);

function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

function expectNamed(error: unknown, argument: string, given: unknown): void {
  const about = `${argument} ${typeof given === "symbol" ? "symbol" : String(given)}`;
  expect(error, about).toBeInstanceOf(InvalidArgumentError);
  const { code, argument: named, message } = error as InvalidArgumentError;
  expect([code, named], about).toEqual(["INVALID_ARGUMENT", argument]);
  expect(message.startsWith(`${argument} `), message).toBe(true);
}

test("names that cannot be kept apart are refused [H33]", () => {
  for (const name of WRONG_NAMES) {
    expectNamed(
      thrown(() => holdfast.mutex(name as never)),
      "name",
      name,
    );
    expectNamed(
      thrown(() => holdfast.record(name as never)),
      "name",
      name,
    );
  }
});

test("a mutex refuses options that can never work, and options that it does not have", () => {
  for (const [argument, options] of WRONG_TERMS)
    expectNamed(
      thrown(() => holdfast.mutex("name", options as never)),
      argument,
      options[argument],
    );
  expectNamed(
    thrown(() => holdfast.mutex("name", null as never)),
    "options",
    null,
  );
  const tooLong = { ttl: 2 ** 31 - 1, lockDelay: 1 };
  expectNamed(
    thrown(() => holdfast.mutex("name", tooLong)),
    "lockDelay",
    1,
  );
  holdfast.mutex("name", { ttl: "500ms", maxHold: "1h", lockDelay: "0ms", localTurns: 1_000 });
  holdfast.mutex("name", { ttl: 100, maxHold: Number.POSITIVE_INFINITY });
  holdfast.mutex("name", { linger: "10s" });
  holdfast.mutex("name", { ttl: 300, linger: 100, localTurns: 2 });
  holdfast.mutex("name", { linger: 0, localTurns: 1 });
});

test("acquire, tryAcquire and run refuse what can never work, and send nothing", async () => {
  const mutex = holdfast.mutex("name");
  for (const [argument, options] of WRONG_WAITS) {
    expectNamed(await rejection(mutex.acquire(options as never)), argument, options[argument]);
    expectNamed(await rejection(mutex.run(() => {}, options as never)), argument, options[argument]);
  }
  for (const floor of [5, "5", null, -1n, 10n ** 16n])
    expectNamed(await rejection(mutex.tryAcquire({ floor } as never)), "floor", floor);
  for (const work of [undefined, null, 5, {}])
    expectNamed(await rejection(mutex.run(work as never)), "work", work);
  expectNamed(await rejection(mutex.acquire(null as never)), "options", null);
  expect(sent).toBe(0);
});

test("tryAcquire refuses options of a wait, which it would not honour", async () => {
  const mutex = holdfast.mutex("name");
  expectNamed(await rejection(mutex.tryAcquire({ wait: 5 } as never)), "wait", 5);
  const signal = AbortSignal.abort();
  expectNamed(await rejection(mutex.tryAcquire({ signal } as never)), "signal", "aborted");
});

test("a Holdfast refuses settings that can never work, and settings that it does not have", () => {
  const others: [string, Bag][] = ["timeout", "clock", "random"].map((name) => [name, { [name]: {} }]);
  for (const [argument, options] of [...WRONG_SETTINGS, ...others])
    expectNamed(
      thrown(() => new Holdfast(client as never, options as never)),
      argument,
      options[argument],
    );
  expectNamed(
    thrown(() => new Holdfast(client as never, null as never)),
    "options",
    null,
  );
});

test("a missing or wrong client fails at construction, by an error that says what to pass", () => {
  for (const wrong of WRONG_CLIENTS) {
    const error = thrown(() => new Holdfast(wrong as never));
    expect(error, String(wrong)).toBeInstanceOf(UnsupportedClientError);
    expect((error as UnsupportedClientError).code).toBe("UNSUPPORTED_CLIENT");
    expect((error as UnsupportedClientError).message).toMatch(/pass /);
  }
  for (const url of ["", "no url", "http://localhost", "localhost:6379"])
    expectNamed(
      thrown(() => new Holdfast(url)),
      "url",
      url,
    );
});

test("a wrong argument is told with what came, and what belongs there", async () => {
  const hf = new Holdfast("redis://127.0.0.1:1");
  const once = hf.once as unknown as (...args: unknown[]) => Promise<unknown>;
  await expect(once("k", 5)).rejects.toThrow("work must be a function: hf.once(key, work, { keep })");
  await expect(once("k", { keep: 1 }, () => 1)).rejects.toThrow("work must be a function");
  await expect(once("k", () => 1)).rejects.toThrow("keep must say how long the result counts");
  await expect(once("k", () => 1, 500)).rejects.toThrow(
    "options must be an object, such as { wait: 500 }, not number",
  );
  const put = (version: unknown): Promise<unknown> => hf.record("r").put(1, { version: version as bigint });
  const says = "version must be a bigint, such as 0n or the version of get(), not the";
  await expect(put(0)).rejects.toThrow(`${says} number 0`);
  await expect(put("5")).rejects.toThrow(`${says} string 5`);
  await expect(put(-1n)).rejects.toThrow("version must not be negative");
  await hf.close();
});

test("a size that differs is told as a count of a latch, and as parties of a barrier", () => {
  expect(new CountMismatchError("latch", "l", 4, 5).message).toContain("with a count of 5, not 4");
  expect(new CountMismatchError("barrier", "b", 4, 5).message).toContain("with 5 parties, not 4");
});
