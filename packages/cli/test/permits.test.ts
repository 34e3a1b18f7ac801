/** `holdfast lock` with permits of a semaphore, and with the sides of a read-write lock; their release by force. */
import { Holdfast } from "holdfast";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { Program } from "./program.js";
import { startEmbedded, type TestServer, untilListening } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

let server: TestServer;

beforeAll(async () => {
  server = await startEmbedded();
});

afterAll(() => server.stop());

const start = (...args: string[]): Program => new Program(args, { HOLDFAST_REDIS: server.url });
const { call } = callerOf(() => [server.url]);

/** Holds it until the test is over, with a command that prints its fence. */
async function held(...args: string[]): Promise<{ readonly holder: Program; readonly fence: string }> {
  const holder = start("lock", ...args, "--", "sh", "-c", "echo fence $HOLDFAST_FENCE; exec sleep 60");
  onTestFinished(() => holder.kill());
  const [, fence = ""] = await holder.printed(/fence (\d+)/);
  return { holder, fence };
}

test("--permits lets as many commands run as there are permits", async () => {
  const [first, second] = [await held("two", "--permits", "2"), await held("two", "--permits", "2")];
  expect(BigInt(second.fence)).toBeGreaterThan(BigInt(first.fence));
  const third = await call("lock", "two", "--permits", "2", "--wait", "2s", "--", "echo", "ran");
  expect(third).toMatchObject({ exitCode: 75, stdout: "", stderr: "holdfast: no permit of 'two' is free\n" });
  expect((await call("show", "two", "--kind", "semaphore")).stdout).toMatch(/^ +in use +2 of 2$/m);
});

test("--read runs beside readers, --write alone", async () => {
  await held("book", "--read");
  expect(await start("lock", "book", "--read", "--", "true").ended()).toMatchObject({ exitCode: 0 });
  const write = await call("lock", "book", "--write", "--wait", "2s", "--", "echo", "ran");
  expect(write).toMatchObject({
    exitCode: 75,
    stdout: "",
    stderr: "holdfast: others read or write 'book'\n",
  });
  await held("page", "--write");
  const read = await call("lock", "page", "--read", "--wait", "0", "--", "echo", "ran");
  expect(read).toMatchObject({
    exitCode: 75,
    stdout: "",
    stderr: "holdfast: a writer holds 'page', or waits for it\n",
  });
});

test("release --force takes them from one holder, whom --fence names", async () => {
  const [first, second] = [await held("three", "--permits", "3"), await held("three", "--permits", "3")];
  const release = (...args: string[]): ReturnType<typeof call> =>
    call("release", "three", "--kind", "semaphore", "--force", "--yes", ...args);
  expect(await release()).toMatchObject({ exitCode: 64, stderr: expect.stringContaining("has 2 holders") });
  const { exitCode, stdout } = await release("--fence", first.fence);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining("was taken from sh") });
  expect(await first.holder.ended()).toMatchObject({ exitCode: 70 });
  expect(await release("--fence", first.fence)).toMatchObject({ exitCode: 75 });
  expect(await release()).toMatchObject({ exitCode: 0 });
  expect(await second.holder.ended()).toMatchObject({ exitCode: 70 });
  expect(await release()).toMatchObject({ exitCode: 0, stdout: "'three' is free\n" });
  const writer = await held("shelf", "--write");
  await untilListening(server.url, 1);
  const taken = await call("release", "shelf", "--kind", "rwlock", "--force", "--yes", "--json");
  expect(JSON.parse(taken.stdout)).toMatchObject({
    rwlock: "shelf",
    holder: { fence: writer.fence },
    told: true,
  });
});

test("permits changes their number for all: whoever waits is served", async () => {
  await held("size", "--permits", "1");
  const waiting = start("lock", "size", "--permits", "1", "--wait", "1m", "--", "true");
  expect(await call("permits", "size", "2")).toMatchObject({
    exitCode: 0,
    stdout: "'size' has 2 permits from now on\n",
  });
  expect(await waiting.ended()).toMatchObject({ exitCode: 0 });
  expect(JSON.parse((await call("permits", "size", "default", "--json")).stdout)).toEqual({
    semaphore: "size",
    permits: null,
  });
  expect(await call("permits", "size", "many")).toMatchObject({ exitCode: 64 });
});

test("show says what a holder of permits waits for", async () => {
  await using hf = new Holdfast(server.redis);
  const owner = { job: 1 };
  const other = await hf.mutex("other").acquire();
  const permit = await hf.semaphore("jobs", { permits: 1 }).acquire({ owner });
  const waiting = hf.mutex("other").acquire({ owner, wait: "1m" });
  waiting.catch(() => {});
  await vi.waitUntil(
    async () => /which waits for lock other/.test((await call("show", "jobs", "--kind", "semaphore")).stdout),
    { timeout: 30_000 },
  );
  await other.release();
  await (await waiting).release();
  await permit.release();
});

test("one way at a time: exit code 64", async () => {
  for (const ways of [
    ["--permits", "2", "--read"],
    ["--read", "--write"],
    ["--permits", "0"],
  ])
    expect(await call("lock", "a", ...ways, "--", "true")).toMatchObject({ exitCode: 64, stdout: "" });
  expect(await call("release", "a", "--kind", "queue", "--force", "--yes")).toMatchObject({ exitCode: 64 });
});
