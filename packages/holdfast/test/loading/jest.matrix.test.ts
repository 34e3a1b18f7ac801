/** Jest, with its defaults: tests are CommonJS, in a realm of their own, and loaded by a loader that requires no ES module. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installed, modules, run } from "./installed.ts";

/** Jest loads these two with Node's own loader. */
const SETUP = `
  import { EmbeddedValkey } from "@holdfast/embedded";
  export default async () => {
    globalThis.valkey = await EmbeddedValkey.start();
    process.env.REDIS_URL = globalThis.valkey.url;
  };
`;
const TEARDOWN = "export default () => globalThis.valkey.stop();";

const TESTS = `
  const { AcquireTimeoutError, Holdfast, HoldfastError } = require("holdfast");
  const { TokenFence } = require("holdfast/fencing/sql");
  const { rateLimit } = require("holdfast/middleware/express");
  const { Redlock } = require("holdfast/redlock");
  const { Redis } = require("ioredis");

  const byUrl = new Holdfast(process.env.REDIS_URL);
  const redis = new Redis(process.env.REDIS_URL);
  const byClient = new Holdfast(redis);

  afterAll(async () => {
    await Promise.all([byUrl.close(), byClient.close()]);
    redis.disconnect();
  });

  test("a lock is held by one, and its errors are recognised", async () => {
    const lease = await byUrl.mutex("name").acquire();
    const refused = await byClient.mutex("name").acquire({ wait: 0 }).catch((error) => error);
    expect(refused).toBeInstanceOf(AcquireTimeoutError);
    expect(refused).toBeInstanceOf(HoldfastError);
    const controller = new AbortController();
    const waiting = byClient.mutex("name").acquire({ signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(await lease.release()).toBe("released");
  });

  test("limits, records, the inspector and the doctor", async () => {
    const limit = byUrl.limit("api", { max: 1, per: "1m" });
    expect([(await limit.take("me")).ok, (await limit.take("me")).ok]).toEqual([true, false]);
    await byUrl.record("r").put({ at: [1, "x"] });
    expect((await byClient.record("r").get()).value).toEqual({ at: [1, "x"] });
    expect((await (await byUrl.inspector()).lock("name")).holder).toBeNull();
    expect((await byUrl.doctor()).findings).toEqual(expect.any(Array));
    expect(typeof rateLimit(byUrl, { limits: limit })).toBe("function");
    expect([typeof Redlock, typeof TokenFence]).toEqual(["function", "function"]);
  });
`;

const CONFIG = `
  module.exports = { testEnvironment: "node", globalSetup: "./setup.mjs", globalTeardown: "./teardown.mjs" };
`;

test("Jest requires the library, and its global set-up starts the embedded server", async () => {
  const folder = await installed(["@holdfast/embedded", "ioredis"]);
  const files = {
    "jest.config.cjs": CONFIG,
    "setup.mjs": SETUP,
    "teardown.mjs": TEARDOWN,
    "lock.test.js": TESTS,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const jest = join(modules, "jest/bin/jest.js");
  const options = { cwd: folder, timeout: 60_000, env: { ...process.env, CI: "1", NODE_OPTIONS: "" } };
  const { stderr } = await run(process.execPath, [jest, "--json", "--outputFile=result.json"], options);
  expect(stderr).toMatch(/Tests: +2 passed, 2 total/);
  // It would complain of what keeps it from ending.
  expect(stderr).not.toMatch(/did not exit|force exited/);
});
