/** `holdfast watch` away from a terminal: one line a change. */
import { EmbeddedValkey } from "@holdfast/embedded";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { jsonLines } from "./printed.js";
import { Program } from "./program.js";
import { startEmbedded, type TestServer } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

let server: TestServer;
beforeAll(async () => {
  server = await startEmbedded();
});
afterAll(() => server.stop());

const { start, call } = callerOf(() => [server.url]);
/** In a process of its own. */
const holdfast = (...args: string[]): Program => new Program(args, { HOLDFAST_REDIS: server.url });

test.each(["changes", "chang*"])("watch '%s' tells who comes, waits and goes", async (pattern) => {
  const watcher = start("watch", pattern, "--interval", "50ms");
  const first = holdfast("lock", "changes", "--label", "one", "--", "sh", "-c", "read line");
  await watcher.printed(/^\S+Z changes held by one \(pid \d+ on .+\), fence \d{16}$/m);
  const second = holdfast("lock", "changes", "--label", "two", "--", "sh", "-c", "read line");
  await watcher.printed(/^\S+Z changes 1 waiting$/m);
  first.child.stdin?.end();
  await watcher.printed(/^\S+Z changes held by two \(.+\), fence \d{16}$/m);
  second.child.stdin?.end();
  await watcher.printed(/^\S+Z changes free$/m);
  watcher.kill("SIGINT");
  expect(await watcher.ended()).toMatchObject({ exitCode: 0, stderr: "" });
  expect(watcher.stdout).not.toContain("\u001b");
  await Promise.all([first.ended(), second.ended()]);
});

test("as JSON lines", async () => {
  const watcher = start("watch", "--json", "--interval", "50ms");
  const holder = holdfast("lock", "lines", "--label", "one", "--", "sh", "-c", "read line");
  await watcher.printed(/"held"/);
  holder.child.stdin?.end();
  await watcher.printed(/"free"/);
  watcher.kill("SIGTERM");
  expect(await watcher.ended()).toMatchObject({ exitCode: 0 });
  expect(jsonLines(watcher.stdout)).toMatchObject([
    {
      at: expect.stringMatching(/Z$/),
      event: "held",
      lock: { name: "lines", holder: { process: { label: "one" } } },
    },
    { at: expect.stringMatching(/Z$/), event: "free", lock: { name: "lines", holder: null, waiting: 0 } },
  ]);
  await holder.ended();
});

test("looks once where the interval is longer than a timer of Node.js", async () => {
  const holder = holdfast("lock", "seldom", "--", "sleep", "60");
  const isHeld = async (): Promise<void> => expect((await call("show", "seldom")).stdout).toContain("fence");
  await vi.waitFor(isHeld, { timeout: 30_000 });
  const watcher = start("watch", "seldom", "--interval", "30d");
  await watcher.printed(/held/);
  holder.child.kill("SIGTERM");
  await holder.ended();
  watcher.kill("SIGINT");
  const { stdout, stderr } = await watcher.ended();
  expect(stdout).not.toContain("free");
  expect(stderr).toBe("");
});

test("ends when nobody reads it any more", async () => {
  const watcher = holdfast("watch", "piped", "--interval", "50ms");
  watcher.child.stdout?.destroy();
  const holders = [0, 1, 2].map(() => holdfast("lock", "piped", "--", "sleep", "0.2"));
  const { exitCode, stderr } = await watcher.ended();
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  await Promise.all(holders.map((holder) => holder.ended()));
});

test("a server that goes away is said once, and watched for", async () => {
  const own = await startEmbedded();
  const watcher = callerOf(() => [own.url]).start("watch", "--interval", "50ms");
  const holder = new Program(["lock", "x", "--ttl", "1s", "--redis", own.url, "--", "sleep", "60"]);
  await watcher.printed(/held/);
  await own.stop();
  // A look that was under way has no answer; the next one is not sent.
  await watcher.printed(/^holdfast: no Redis at .+: nothing was sent.*$/m, "stderr");
  expect(await holder.ended()).toMatchObject({ exitCode: 70 });
  const again = await EmbeddedValkey.start({ port: Number(new URL(own.url).port) });
  onTestFinished(() => again.stop());
  await watcher.printed(/ x free$/m);
  watcher.kill("SIGINT");
  const { exitCode, stderr } = await watcher.ended();
  expect(exitCode).toBe(0);
  const said = stderr.match(/^.+$/gm) ?? [];
  expect(said).toEqual([...new Set(said)]);
});
