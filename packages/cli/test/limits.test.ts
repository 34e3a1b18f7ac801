/** `holdfast limit` and `holdfast limits`. */
import { expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { run } from "./program.js";
import { startBeside } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

const { server, hf } = await startBeside();

const { call: holdfast } = callerOf(() => [server.url]);

test("limit: allowed until it is used up, then refused with the time; peek takes nothing, refund gives back", async () => {
  const sms = ["limit", "sms", "user:7", "--max", "2", "--per", "1h"];
  expect(await holdfast(...sms)).toMatchObject({ exitCode: 0, stdout: "allowed: 1 left\n", stderr: "" });
  expect(await holdfast(...sms, "--peek")).toMatchObject({
    exitCode: 0,
    stdout: "would be allowed: 1 left\n",
  });
  await hf.limit("sms", { max: 2, per: "1h" }).take("user:7");
  const refused = await holdfast(...sms);
  expect(refused).toMatchObject({ exitCode: 75, stderr: "" });
  expect(refused.stdout).toMatch(/^refused: 0 left, try again in (30 m 0 s|29 m \d+ s)\n$/);
  expect(await holdfast(...sms, "--refund")).toMatchObject({ exitCode: 0, stdout: "refunded: 1 left\n" });
  const tooMuch = await holdfast(...sms, "--cost", "3", "--json");
  expect(tooMuch).toMatchObject({ exitCode: 75 });
  expect(JSON.parse(tooMuch.stdout)).toEqual({
    name: "sms",
    target: "user:7",
    ok: false,
    remaining: 1,
    retryAfterMs: null,
    resetMs: expect.any(Number),
    policy: { name: "sms", type: "rolling", max: 2, perMs: 3_600_000 },
    source: "redis",
  });
});

test("limits: listed by SCAN, shown, and reset", async () => {
  await hf.limit("login", { type: "window", max: 5, per: "10m" }).take("10.0.0.1", 4);
  await hf.limit("trial", { type: "lifetime", max: 30 }).take("acme\u001b[2J", 12);
  const { exitCode, stdout, stderr } = await holdfast("limits", "ls", "[lt]*");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    expect.stringMatching(/^LIMIT +TARGET +TYPE +USED +RESET$/),
    expect.stringMatching(/^login +10\.0\.0\.1 +window +4 +(10 m 0 s|9 m 59 s)$/),
    expect.stringMatching(/^trial +acme\\u\{1b\}\[2J +lifetime +12 +never$/),
    "",
  ]);
  const listed = await holdfast("limits", "ls", "--target", "10.*", "--json");
  const { limits } = JSON.parse(listed.stdout);
  expect(limits).toEqual([
    { name: "login", type: "window", target: "10.0.0.1", used: 4, resetMs: expect.any(Number) },
  ]);
  const shown = await holdfast("limits", "show", "login", "10.0.0.1", "--json");
  expect(JSON.parse(shown.stdout)).toMatchObject({
    name: "login",
    target: "10.0.0.1",
    limits: [{ used: 4 }],
  });
  expect(await holdfast("limits", "reset", "login", "10.0.0.1")).toMatchObject({
    exitCode: 64,
    stderr: expect.stringContaining("--yes"),
  });
  expect(await holdfast("limits", "reset", "login", "10.0.0.1", "--yes")).toMatchObject({
    exitCode: 0,
    stdout: "'login' for '10.0.0.1': 4 used (window), now 0\n",
  });
  expect(await holdfast("limits", "show", "login", "10.0.0.1")).toMatchObject({
    exitCode: 0,
    stdout: "'login' for '10.0.0.1': 0 used\n",
    stderr: "",
  });
});

test.each([
  { args: ["limit", "sms", "a", "--max", "2"], says: "--per is missing" },
  { args: ["limit", "sms", "a", "--per", "1h"], says: "--max" },
  { args: ["limit", "sms", "a", "--max", "2", "--per", "1h", "--burst", "3"], says: "--burst is for" },
  { args: ["limit", "sms", "a", "--max", "2", "--per", "1h", "--peek", "--refund"], says: "--refund" },
  { args: ["limits"], says: "a command is missing: ls, show or reset" },
  { args: ["limit", "--max", "2", "--per", "1h"], says: "missing required argument 'name'" },
  { args: ["limit", "sms", "", "--max", "2", "--per", "1h"], says: "TARGET must not be empty" },
])("$args is a usage error", async ({ args, says }) => {
  const { exitCode, stderr } = await holdfast(...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 64, stderr: expect.stringContaining(says) });
});

test("a Redis that is away is exit code 69; limits and targets are completed", async () => {
  const { call } = callerOf(() => ["redis://127.0.0.1:1"]);
  const away = await call("limit", "sms", "a", "--max", "2", "--per", "1h");
  expect(away).toMatchObject({ exitCode: 69, stdout: "", stderr: expect.stringContaining("no Redis at") });
  const at = { HOLDFAST_REDIS: server.url };
  await hf.limit("tab", { max: 5, per: "10m" }).take("key");
  expect((await run(["complete", "--", "limits", "show", "ta"], at)).stdout).toBe("tab\t\n");
  expect((await run(["complete", "--", "limits", "show", "tab", ""], at)).stdout).toBe("key\t\n");
});
