/** `holdfast ls`, `show`, `release` and `doctor`, beside holders and waiters that are programs themselves. */
import { needing } from "@holdfast/conformance";
import { ClosedError, Holdfast } from "holdfast";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { tableOf } from "../src/output/table.js";
import { rulerFor } from "../src/output/width.js";
import { type Call, callerOf } from "./call.js";
import { Program } from "./program.js";
import { REDIS_FIRST, type TestServer, untilListening } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

/** What holds until the test ends it. */
const HOLD = ["--", "sh", "-c", "echo holding; exec sleep 60"];

describe.each(REDIS_FIRST.map((kind) => ({ title: kind.title, kind })))("on $title", ({ kind }) => {
  needing(describe, ...kind.needs)("looking at locks", () => {
    let server: TestServer;
    let running: (Program | Call)[] = [];
    beforeAll(async () => {
      server = await kind.start();
    });
    afterAll(() => server?.stop());
    afterEach(async () => {
      for (const program of running) program.kill("SIGTERM");
      await Promise.all(running.map((program) => program.ended()));
      running = [];
    });

    const { start, call: holdfast } = callerOf(() => [server.url]);
    const lock = (...args: string[]): Program =>
      new Program(["lock", ...args], { HOLDFAST_REDIS: server.url });

    const waitHere = (...args: string[]): Call => start("lock", ...args);

    /** By the library, until the end of the test: a process of its own is for what is taken from it. */
    async function holder(name: string, label: string): Promise<void> {
      const hf = new Holdfast(server.redis, { label });
      onTestFinished(() => hf.close());
      await hf.mutex(name).acquire();
    }

    async function program(name: string, label: string): Promise<Program> {
      const holding = lock(name, "--label", label, ...HOLD);
      running.push(holding);
      await holding.printed(/holding/);
      return holding;
    }

    async function waiter<Waiter extends Program | Call>(
      name: string,
      label: string,
      begin: (...args: string[]) => Waiter,
    ): Promise<Waiter> {
      const program = begin(name, "--json", "--wait", "forever", "--label", label, ...HOLD);
      running.push(program);
      await program.printed(/"waiting"/, "stderr");
      return program;
    }

    test("ls: nothing", async () => {
      expect(await holdfast("ls")).toMatchObject({
        exitCode: 0,
        stdout: "",
        stderr: "holdfast: no lock is held or waited for\n",
      });
      expect(await holdfast("ls", "--json")).toMatchObject({ exitCode: 0, stdout: '{"locks":[]}\n' });
    });

    test("ls: a plain table, sorted, and the pattern", async () => {
      await holder("deploy:web", "ci");
      await holder("account:13", "");
      await waiter("deploy:web", "next", waitHere);
      const { exitCode, stdout, stderr } = await holdfast("ls");
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      const [head, first, second, end] = stdout.split("\n");
      expect(head).toMatch(/^LOCK +HOLDER +FENCE +HELD +LEFT +WAITING$/);
      expect(first).toMatch(/^account:13 +\S+:\d+ +\d{16} +[\d.]+ s +[\d.]+ s$/);
      expect(second).toMatch(/^deploy:web +ci \S+:\d+ +\d{16} +[\d.]+ s +[\d.]+ s +1$/);
      expect(end).toBe("");
      expect(stdout).not.toContain("\u001b");
      const { stdout: some } = await holdfast("ls", "dep*");
      expect(some.split("\n")).toHaveLength(3);
    });

    test("ls --all knows the free ones; --prefix other locks", async () => {
      await lock("was-held", "--", "true").ended();
      await lock("elsewhere", "--prefix", "other", "--", "true").ended();
      expect((await holdfast("ls", "was-*", "-a")).stdout).toMatch(/^was-held +free$/m);
      expect((await holdfast("ls", "-a", "--prefix", "other")).stdout).toMatch(/^elsewhere +free$/m);
      expect((await holdfast("ls", "-a", "elsewhere")).stdout).toBe("");
    });

    test("ls and show as JSON, with the documented members", async () => {
      await holder("shape", "ci");
      await waiter("shape", "next", waitHere);
      const { locks } = JSON.parse((await holdfast("ls", "shape", "--json")).stdout);
      const lock = JSON.parse((await holdfast("show", "shape", "--json")).stdout);
      const { waitsFor, ...shown } = lock;
      expect(waitsFor).toEqual([]);
      for (const state of [locks[0], shown]) {
        expect(state).toEqual({
          name: "shape",
          holder: {
            id: expect.any(String),
            process: { host: expect.any(String), pid: process.pid, label: "ci" },
            fence: expect.stringMatching(/^\d{16}$/),
            sinceMs: expect.any(Number),
            heldMs: expect.any(Number),
            ttlMs: 30_000,
            leftMs: expect.any(Number),
          },
          waiters: [
            {
              id: expect.any(String),
              process: { host: expect.any(String), pid: expect.any(Number), label: "next" },
              silentMs: expect.any(Number),
              ttlMs: 30_000,
            },
          ],
          waiting: 1,
          lastFence: expect.stringMatching(/^\d{16}$/),
          banned: 0,
        });
      }
    });

    test("show: the holder and the line in order; a free lock", async () => {
      await holder("details", "ci");
      await waiter("details", "second", waitHere);
      await waiter("details", "third", waitHere);
      const { stdout } = await holdfast("show", "details");
      expect(stdout).toMatch(
        new RegExp(`^details\n  held by +ci \\(pid ${process.pid} on .+\\)\n  fence +\\d{16}\n`),
      );
      expect(stdout).toMatch(/ {2}waiting +2\n +1 {2}second \(pid .+\n +2 {2}third \(pid .+ ago\n$/);
      expect(await holdfast("show", "nobody")).toMatchObject({
        exitCode: 0,
        stdout: "nobody\n  held by     nobody\n  waiting     0\n",
      });
    });

    test("show: what the holder itself waits for", async () => {
      await holder("taken", "ci");
      const hf = new Holdfast(server.url);
      const owner = {};
      await hf.mutex("mine").acquire({ owner });
      const wait = hf.mutex("taken").acquire({ owner, wait: "1m" });
      const ended = expect(wait).rejects.toThrow(ClosedError);
      await expect
        .poll(async () => (await holdfast("show", "mine")).stdout, { timeout: 30_000 })
        .toMatch(/ {2}waits for +lock taken\n/);
      const { waitsFor } = JSON.parse((await holdfast("show", "mine", "--json")).stdout);
      expect(waitsFor).toEqual([{ noun: "mutex", name: "taken", permits: 1 }]);
      await hf.close();
      await ended;
    });

    test("names that would drive a terminal are made harmless", async () => {
      await holder("evil\u001b[2Jname", "la\u0007bel");
      const { stdout } = await holdfast("ls");
      expect(stdout).toContain("evil\\u{1b}[2Jname");
      expect(stdout).toContain("la\\u{7}bel");
    });

    test("release --force: the holder's command is stopped, the next in line gets it", async () => {
      const first = await program("stuck", "first");
      const second = await waiter("stuck", "second", lock);
      await untilListening(server.url, 2);
      const { exitCode, stdout } = await holdfast("release", "stuck", "--force", "--yes");
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(
        /^'stuck' was taken from first \(.+\), and is given to second \(.+\), fence \d{16}\.\nIts holder has been told, and learns of it at once\.\n$/,
      );
      const { exitCode: lost, stderr } = await first.ended();
      expect(lost).toBe(70);
      expect(stderr).toContain("(revoked)");
      await second.printed(/holding/);
    });

    test("release --force as JSON; only from the holder that is meant; a free lock", async () => {
      await holder("meant", "ci");
      const { holder: seen } = JSON.parse((await holdfast("show", "meant", "--json")).stdout);
      const older = String(BigInt(seen.fence) - 1n);
      const refused = await holdfast("release", "meant", "--force", "--yes", "--fence", older, "--json");
      expect(refused.exitCode).toBe(75);
      expect(JSON.parse(refused.stdout)).toMatchObject({ lock: "meant", outcome: "changed", told: false });
      const done = await holdfast("release", "meant", "--force", "--yes", "--fence", seen.fence, "--json");
      expect(done.exitCode).toBe(0);
      const result = JSON.parse(done.stdout);
      expect(result).toMatchObject({ outcome: "released", next: null, holder: { fence: seen.fence } });
      expect(BigInt(result.lastFence)).toBeGreaterThan(BigInt(seen.fence));
      const again = await holdfast("release", "meant", "--force", "--yes");
      expect(again).toMatchObject({ exitCode: 0, stdout: "'meant' is free\n" });
    });

    test.each([
      { args: ["release", "x"], says: "--force" },
      { args: ["release", "x", "--yes"], says: "--force" },
      { args: ["release", "x", "--force"], says: "--yes" },
      { args: ["release", "x", "--force", "--yes", "--fence", "-1"], says: "--fence" },
      { args: ["watch", "--interval", "1ms"], says: "--interval" },
    ])("$args is a usage error", async ({ args, says }) => {
      const { exitCode, stderr } = await holdfast(...args);
      expect(exitCode).toBe(64);
      expect(stderr).toContain(says);
    });

    test("doctor: what it found, its consequence, its remedy, and whether there is something to mend", async () => {
      const embedded = kind.title === "embedded Valkey"; // whose data is in memory by design
      const exitCode = embedded ? 0 : 1;
      const plain = await holdfast("doctor");
      expect(plain).toMatchObject({ exitCode, stderr: "" });
      expect(plain.stdout).toMatch(/^(valkey|redis) [\d.]+, standalone, primary, a call takes [\d.]+ ms/);
      expect(plain.stdout).toMatch(/^(warning|info) persistence\n {2}\S/m);
      const asJson = await holdfast("doctor", "--json");
      expect(asJson).toMatchObject({ exitCode });
      const report = JSON.parse(asJson.stdout);
      expect(report).toMatchObject({ healthy: embedded, facts: { role: "primary" } });
      expect(report.findings).toContainEqual(
        expect.objectContaining({ code: "persistence", accepted: false }),
      );
    });

    test("doctor: findings that are accepted are told, and do not count", async () => {
      const plain = await holdfast("doctor", "--accept", "replication", "--accept", "latency,persistence");
      expect(plain).toMatchObject({ exitCode: 0, stderr: "" });
      expect(plain.stdout).toMatch(/^(warning|info) persistence \(accepted\)\n {2}\S/m);
      const { stdout } = await holdfast("doctor", "--json", "--accept", "persistence");
      expect(JSON.parse(stdout)).toMatchObject({ healthy: true });
      expect(await holdfast("doctor", "--accept", "no code")).toMatchObject({
        exitCode: 64,
        stderr: expect.stringContaining("codes as doctor prints them"),
      });
    });
  });
});

test("a table has room for every row", async () => {
  const rows = Array.from({ length: 200_000 }, (_, place) => [`lock:${place}`]);
  const column = { head: "LOCK", align: "left", shrinks: false, rank: 0 } as const;
  expect(tableOf([column], rows, 80, await rulerFor(""))).toHaveLength(200_001);
});
