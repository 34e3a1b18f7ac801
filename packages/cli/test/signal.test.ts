/** `holdfast signal`. */
import { expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { jsonLines } from "./printed.js";
import { startBeside } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

const { server, hf } = await startBeside({ callTimeout: "10s" });

const { start, call: holdfast } = callerOf(() => [server.url]);

async function heardBy(count: number, name: string, data?: unknown): Promise<void> {
  const inspector = await hf.inspector();
  await vi.waitUntil(async () => (await inspector.signal(name)).hearing === count, { timeout: 30_000 });
  await hf.signal(name).emit(data);
}

test("emit says how many heard it, and --one whether there was one", async () => {
  expect(await holdfast("signal", "emit", "quiet")).toMatchObject({ exitCode: 0, stdout: "0\n", stderr: "" });
  expect(await holdfast("signal", "emit", "quiet", "--one")).toMatchObject({
    exitCode: 1,
    stdout: "",
    stderr: "holdfast: nobody waits for 'quiet'\n",
  });
  const listener = await hf.signal("loud").listen();
  expect(await holdfast("signal", "emit", "loud", '{"n": 7}')).toMatchObject({ exitCode: 0, stdout: "1\n" });
  const one = await holdfast("signal", "emit", "loud", "--one", "--text", "a word", "--json");
  expect([one.exitCode, JSON.parse(one.stdout)]).toEqual([0, { name: "loud", heard: 1 }]);
  const heard = [await listener.next(), await listener.next()].map(({ value }) => value?.data);
  expect(heard).toEqual([{ n: 7 }, "a word"]);
});

test("wait prints the data of the first signal; with several names also which it was", async () => {
  const one = holdfast("signal", "wait", "go");
  await heardBy(1, "go", { n: 1 });
  expect(await one).toMatchObject({ exitCode: 0, stdout: '{"n":1}\n', stderr: "" });
  const any = holdfast("signal", "wait", "left", "right");
  await heardBy(1, "right", "here");
  expect(await any).toMatchObject({ exitCode: 0, stdout: 'right "here"\n' });
  const raw = holdfast("signal", "wait", "go", "--raw");
  await heardBy(1, "go", "two\nlines");
  expect((await raw).stdout).toBe("two\nlines");
});

test("wait for all, and for a pattern, as JSON, says when it has begun", async () => {
  const all = start("signal", "wait", "first", "second", "--all", "--json");
  // Both signals may come before it has begun, and then it says nothing.
  await all.printed(/"waiting"/, "stderr");
  await heardBy(1, "second", Uint8Array.of(0, 255));
  await heardBy(1, "first");
  const ended = await all.ended();
  expect(jsonLines(ended.stderr)).toEqual([
    { at: expect.any(String), event: "waiting", names: ["first", "second"] },
  ]);
  expect(JSON.parse(ended.stdout)).toEqual({
    heard: true,
    signals: [
      { name: "first", hasData: false, value: null, encoding: "json" },
      { name: "second", hasData: true, value: "AP8=", encoding: "base64" },
    ],
  });
  const pattern = start("signal", "wait", "order:*", "--matching");
  await vi.waitUntil(async () => Number(await server.redis.call("PUBSUB", "NUMPAT")) === 1, {
    timeout: 30_000,
  });
  await hf.signal("order:7").emit();
  expect(await pattern.ended()).toMatchObject({ exitCode: 0, stdout: "order:7\n" });
});

test("wait ends by its time and by Ctrl-C, and complains about what it cannot do", async () => {
  expect(await holdfast("signal", "wait", "never", "--wait", "2s")).toMatchObject({
    exitCode: 75,
    stderr: "holdfast: no signal came in time\n",
  });
  const program = start("signal", "wait", "never", "--wait", "forever");
  const inspector = await hf.inspector();
  await vi.waitUntil(async () => (await inspector.signal("never")).hearing === 1, { timeout: 30_000 });
  program.kill("SIGINT");
  expect(await program.ended()).toMatchObject({ signal: "SIGINT", stdout: "" });
  for (const args of [["wait"], ["wait", "a", "b", "--matching"], ["emit", "x", "{no"], []])
    expect((await holdfast("signal", ...args)).exitCode).toBe(64);
  expect((await holdfast("signal", "emit", "x", "{no")).stderr).toContain("DATA is not JSON");
});
