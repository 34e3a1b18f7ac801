/** `holdfast event` and `holdfast reset`. */
import { expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { startBeside } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

const { server, hf } = await startBeside();

const { start, call: holdfast } = callerOf(() => [server.url]);

test("a wait ends with the set of another process, and prints its data", async () => {
  const waiting = start("event", "wait", "imported", "--wait", "forever");
  const inspector = await hf.inspector();
  await expect.poll(async () => (await inspector.event("imported")).listening, { timeout: 30_000 }).toBe(1);
  const set = await holdfast("event", "set", "imported", '{"rows":1200}');
  expect(set).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d{16}\n$/) });
  expect(await waiting.ended()).toMatchObject({ exitCode: 0, stdout: '{"rows":1200}\n', stderr: "" });
  const again = await holdfast("event", "wait", "imported", "--json");
  const data = { value: { rows: 1200 }, encoding: "json" };
  expect(JSON.parse(again.stdout)).toEqual({
    name: "imported",
    set: true,
    version: set.stdout.trim(),
    ...data,
  });
  const got = await holdfast("event", "get", "imported");
  expect(got).toMatchObject({ exitCode: 0, stdout: `set, version ${set.stdout.trim()}: {"rows":1200}\n` });
  expect((await holdfast("event", "get", "imported", "--json")).stdout).toBe(again.stdout);
  expect((await holdfast("event", "clear", "imported")).exitCode).toBe(0);
  const late = await holdfast("event", "wait", "imported", "--wait", "0");
  expect(late).toMatchObject({
    exitCode: 75,
    stdout: "",
    stderr: "holdfast: 'imported' was not set in time\n",
  });
  const cleared = await holdfast("event", "wait", "imported", "--after", "0", "--wait", "0");
  expect(cleared).toMatchObject({ exitCode: 0, stdout: '{"rows":1200}\n' });
});

test("get says of an event that is not set whether it ever was; text and bytes come back raw", async () => {
  expect(await holdfast("event", "get", "raw")).toMatchObject({ exitCode: 1, stdout: "never set\n" });
  await holdfast("event", "set", "raw", "two\nlines", "--bytes");
  expect((await holdfast("event", "wait", "raw", "--raw")).stdout).toBe("two\nlines");
  expect((await holdfast("event", "get", "raw", "--raw")).stdout).toBe("two\nlines");
  expect((await hf.event("raw").get()).data).toBeInstanceOf(Uint8Array);
  await hf.event("raw").clear();
  const cleared = await holdfast("event", "get", "raw");
  expect(cleared).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^not set, version \d{16}\n$/),
  });
});

test("a wait that is interrupted ends by the signal", async () => {
  const waiting = start("event", "wait", "never", "--wait", "forever");
  const inspector = await hf.inspector();
  await expect.poll(async () => (await inspector.event("never")).listening, { timeout: 30_000 }).toBe(1);
  waiting.kill("SIGINT");
  expect((await waiting.ended()).signal).toBe("SIGINT");
});

test("reset begins a latch and a barrier again, whatever their size", async () => {
  await hf.latch("start", 3).countDown();
  const latch = await holdfast("reset", "start", "--kind", "latch", "--yes");
  expect(latch).toMatchObject({ exitCode: 0, stdout: "the latch 'start' begins again\n" });
  expect(await hf.latch("start", 5).count()).toBe(5);
  const unused = await holdfast("reset", "round\u001b[2J", "--kind", "barrier", "--yes");
  expect(unused).toMatchObject({ exitCode: 0, stdout: "the barrier 'round\\u{1b}[2J' is not in use\n" });
});

test.each([
  { args: ["event"], says: "a command is missing" },
  { args: ["event", "set", "x", "plain"], says: "DATA is not JSON" },
  { args: ["signal", "emit", "x", "plain"], says: "DATA is not JSON" },
  { args: ["event", "set", "x", "y", "--text", "--bytes"], says: "cannot be used with" },
  { args: ["event", "wait", "x", "--after", "one"], says: "--after" },
  { args: ["reset", "x", "--kind", "latch"], says: "add --yes" },
  { args: ["reset", "x", "--yes"], says: "--kind" },
])("$args: exit code 64", async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await holdfast(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toContain(says);
});
