/** `holdfast once`: who runs the command, what the others do, and what becomes of failures. */
import { needing } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { Program } from "./program.js";
import { REDIS_FIRST, type TestServer } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

const KEEP = ["--keep", "1h"];
const sh = (script: string): string[] => ["--", "sh", "-c", script];

describe.each(REDIS_FIRST.map((kind) => ({ title: kind.title, kind })))("on $title", ({ kind }) => {
  needing(describe, ...kind.needs)("holdfast once", () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await kind.start();
    });
    afterAll(() => server?.stop());
    const holdfast = (...args: string[]): Program => new Program(args, { HOLDFAST_REDIS: server.url });
    const { call } = callerOf(() => [server.url]);

    function library(): Holdfast {
      const hf = new Holdfast(server.redis);
      onTestFinished(() => hf.close());
      return hf;
    }

    test("the first one runs the command, with key and fence in its environment; a later one says that it has run", async () => {
      const command = sh('echo "$HOLDFAST_ONCE $HOLDFAST_FENCE"');
      const first = await holdfast("once", "env", ...KEEP, ...command).ended();
      expect(first).toMatchObject({ exitCode: 0, stderr: "" });
      expect(first.stdout).toMatch(/^env \d{16}\n$/);
      const later = await call("once", "env", ...KEEP, ...command);
      expect(later).toMatchObject({ exitCode: 0, stdout: "" });
      expect(later.stderr).toMatch(
        /^holdfast: 'env' has run on .+, with exit code 0: the command is not run again\n$/,
      );
      const json = await call("once", "env", ...KEEP, "--json", ...command);
      expect(JSON.parse(json.stderr)).toMatchObject({ event: "skipped", key: "env", exitCode: 0 });
    });

    test("one that comes while the command runs waits for its end, or does not", async () => {
      const first = holdfast("once", "slow", ...KEEP, ...sh("echo began; read word; echo $word"));
      await first.printed(/began/);
      const second = holdfast("once", "slow", ...KEEP, ...sh("echo again"));
      const busy = await call("once", "slow", ...KEEP, "--wait", "0", ...sh("echo again"));
      expect(busy).toMatchObject({ exitCode: 75, stdout: "" });
      expect(busy.stderr).toMatch(/^holdfast: 'slow' is being run by sh \(pid \d+ on .+\)\n$/);
      first.child.stdin?.end("done\n");
      expect(await first.ended()).toMatchObject({ exitCode: 0, stdout: "began\ndone\n" });
      expect(await second.ended()).toMatchObject({ exitCode: 0, stdout: "" });
    });

    test("a command that fails is run by the next one", async () => {
      const failed = await holdfast("once", "fails", ...KEEP, ...sh("exit 3")).ended();
      expect(failed).toMatchObject({ exitCode: 3, stderr: "" });
      const next = await holdfast("once", "fails", ...KEEP, ...sh("echo mended")).ended();
      expect(next).toMatchObject({ exitCode: 0, stdout: "mended\n" });
    });

    test("with --store-failures it is not, until it is forgotten", async () => {
      const settings = ["once", "stored", ...KEEP, "--store-failures"];
      expect((await holdfast(...settings, ...sh("exit 255")).ended()).exitCode).toBe(255);
      const next = await holdfast(...settings, ...sh("echo again")).ended();
      expect(next).toMatchObject({
        exitCode: 255,
        stdout: "",
        stderr: expect.stringContaining("exit code 255"),
      });
      expect((await call("once", "stored", "--forget")).exitCode).toBe(0);
      expect(await call("once", "stored", "--forget")).toMatchObject({
        exitCode: 1,
        stderr: "holdfast: nothing is known of 'stored'\n",
      });
      expect((await holdfast(...settings, ...sh("echo again")).ended()).stdout).toBe("again\n");
    });

    test("a command that a signal ended has not run, also with --store-failures", async () => {
      const program = holdfast(
        "once",
        "ended",
        ...KEEP,
        "--store-failures",
        ...sh("echo began; exec sleep 60"),
      );
      await program.printed(/began/);
      program.child.kill("SIGTERM");
      expect((await program.ended()).signal).toBe("SIGTERM");
      const next = await holdfast("once", "ended", ...KEEP, ...sh("echo again")).ended();
      expect(next).toMatchObject({ exitCode: 0, stdout: "again\n" });
    });

    test("a signal ends the wait", async () => {
      const first = holdfast("once", "wait", ...KEEP, ...sh("echo began; exec sleep 60"));
      await first.printed(/began/);
      const second = holdfast("once", "wait", ...KEEP, "--wait", "forever", ...sh("echo again"));
      const inspector = await library().inspector();
      await vi.waitFor(async () => expect((await inspector.lock("once:wait")).waiting).toBe(1), 30_000);
      second.child.kill("SIGTERM");
      expect(await second.ended()).toMatchObject({ signal: "SIGTERM", stdout: "" });
    });

    test("a lost lease stops the command, which then has not run", async () => {
      const slow = sh("echo began; exec sleep 60");
      const program = holdfast("once", "lost", ...KEEP, "--ttl", "2s", ...slow);
      await program.printed(/began/);
      await (await library().inspector()).forceRelease("once:lost");
      expect(await program.ended()).toMatchObject({ exitCode: 70 });
      expect(program.stderr).toMatch(/the lease on 'lost' \(fence \d+\) is over \((revoked|taken)\)/);
      const next = await holdfast("once", "lost", ...KEEP, ...sh("echo again")).ended();
      expect(next).toMatchObject({ exitCode: 0, stdout: "again\n" });
    });

    test("what a program has done counts, with a result of its own", async () => {
      await library().once("library", () => [1, 2], { keep: "1h" });
      expect(await call("once", "library", ...KEEP, ...sh("echo again"))).toMatchObject({
        exitCode: 0,
        stdout: "",
        stderr: "holdfast: 'library' has run, with exit code 0: the command is not run again\n",
      });
    });

    test.each([
      { exitCode: "abc", host: { a: 1 } },
      { exitCode: 3.7 },
      { exitCode: null },
      { exitCode: 256 },
      { exitCode: -1 },
    ])(
      "a result of a program that is like one of a command is not taken for one: $exitCode",
      async (result) => {
        const key = `alike:${result.exitCode}`;
        await library().once(key, () => result, { keep: "1h" });
        expect(await call("once", key, ...KEEP, ...sh("echo again"))).toMatchObject({
          exitCode: 0,
          stdout: "",
          stderr: `holdfast: '${key}' has run, with exit code 0: the command is not run again\n`,
        });
      },
    );

    test("a failure that a program has stored is told in one line", async () => {
      const fail = () => Promise.reject(new Error("no \u001b[31mpaper"));
      await library()
        .once("failed", fail, { keep: "1h", errors: "store" })
        .catch(() => {});
      expect(await call("once", "failed", ...KEEP, ...sh("echo again"))).toMatchObject({
        exitCode: 1,
        stdout: "",
        stderr:
          "holdfast: 'failed' has failed (no \\u{1b}[31mpaper), and is not run again: add --forget to forget that\n",
      });
    });
  });
});

describe("holdfast once", () => {
  test.each([
    { args: ["x", "--", "true"], says: /say how long it counts as done, such as --keep 1d/ },
    { args: ["x", "--keep", "1d"], says: /put -- before the command/ },
    { args: ["x", "--keep", "1d", "true"], says: /put -- before the command/ },
    { args: ["x", "--keep", "0", "--", "true"], says: /'--keep <duration>'.*forever/ },
    { args: ["x", "--forget", "--", "true"], says: /--forget runs no command/ },
    { args: ["", "--keep", "1d", "--", "true"], says: /KEY must not be empty/ },
  ])("$args: exit code 64", async ({ args, says }) => {
    const { exitCode, stderr } = await new Program(["once", ...args]).ended();
    expect(exitCode).toBe(64);
    expect(stderr).toMatch(says);
  });
});
