/** `holdfast lock`: the command's life, the lease's life, and what each does to the other. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { needing, processList } from "@holdfast/conformance";
import { Holdfast } from "holdfast";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { isAlive, Program } from "./program.js";
import { EMBEDDED_FIRST, startEmbedded, type TestServer } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

/** For signals to arrive on a machine with its hands full. */
const WITHIN = { timeout: 30_000 };

/** Prints its process id, and ends when it is told to. */
const SLEEPER = ["sh", "-c", "echo $$; exec sleep 60"];

/** The guards of this file wait 59 s, as no others do. */
function guards(): string[] {
  return processList()
    .map(({ command }) => command)
    .filter((command) => command.endsWith("holdfast-guard 59"));
}

describe.each(EMBEDDED_FIRST.map((kind) => ({ title: kind.title, kind })))("on $title", ({ kind }) => {
  needing(describe, ...kind.needs)("holdfast lock", () => {
    let server: TestServer;
    beforeAll(async () => {
      server = await kind.start();
    });
    afterAll(() => server?.stop());
    const env = (): NodeJS.ProcessEnv => ({ HOLDFAST_REDIS: server.url });
    const lock = (...args: string[]): Program => new Program(["lock", ...args], env());
    const { call } = callerOf(() => [server.url]);

    /** By the library: a process of its own would cost as much as what it follows. */
    async function isFree(name: string): Promise<boolean> {
      await using hf = new Holdfast(server.redis);
      const lease = await hf.mutex(name).tryAcquire();
      await lease?.release();
      return lease !== null;
    }

    /** Until the end of the test, by the library as well. */
    async function hold(name: string, label: string): Promise<void> {
      const hf = new Holdfast(server.redis, { label });
      onTestFinished(() => hf.close());
      await hf.mutex(name).acquire();
    }

    test("the command finds name and fence in its environment, stdin and stdout are its own", async () => {
      const program = lock("env", "--", "sh", "-c", 'read line; echo "$line $HOLDFAST_LOCK $HOLDFAST_FENCE"');
      program.child.stdin?.end("hello\n");
      const { exitCode, stdout, stderr } = await program.ended();
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toMatch(/^hello env \d{16}\n$/);
    });

    test("so it does variables that no shell could name", async () => {
      const command = ["--", "env", "-0"];
      const odd = { "spring.url": "jdbc:x", "with-dash": "y", "BASH_FUNC_f%%": "() { echo z; }" };
      const { stdout } = await new Program(["lock", "odd", ...command], { ...env(), ...odd }).ended();
      for (const [name, value] of Object.entries(odd))
        expect(stdout.split("\0")).toContain(`${name}=${value}`);
    });

    test("a command whose name is longer than a label runs", async () => {
      const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, `${"n".repeat(199)}\u{1f600}`);
      writeFileSync(file, "#!/bin/sh\necho ran\n", { mode: 0o755 });
      expect(await lock("long", "--", file).ended()).toMatchObject({ exitCode: 0, stdout: "ran\n" });
    });

    test("fences rise from one run to the next", async () => {
      const fences: bigint[] = [];
      for (let round = 0; round < 2; round += 1) {
        const { stdout } = await lock("rising", "--", "sh", "-c", "echo $HOLDFAST_FENCE").ended();
        fences.push(BigInt(stdout.trim()));
      }
      expect(fences).toEqual([...fences].sort((a, b) => (a < b ? -1 : 1)));
      expect(new Set(fences).size).toBe(2);
    });

    test.each([
      { exits: "exit 0", exitCode: 0 },
      { exits: "exit 3", exitCode: 3 },
      { exits: "exit 75", exitCode: 75 },
      { exits: "kill -KILL $$", exitCode: 137 },
    ])("'$exits' is exit code $exitCode, and the lock is free", async ({ exits, exitCode }) => {
      expect(await lock("codes", "--", "sh", "-c", exits).ended()).toMatchObject({ exitCode, stderr: "" });
      expect(await isFree("codes")).toBe(true);
    });

    test("no such command is 127, one that cannot be executed 126, and the lock is free", async () => {
      const folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, "script");
      writeFileSync(file, "#!/bin/sh\n");
      chmodSync(file, 0o644);
      expect(await lock("none", "--", "no-such-command").ended()).toMatchObject({ exitCode: 127 });
      expect(await lock("none", "--", file).ended()).toMatchObject({ exitCode: 126 });
      expect(await isFree("none")).toBe(true);
    });

    test("busy is 75, at once or after the wait, and names the holder", async () => {
      await hold("busy", "first");
      for (const wait of ["0", "2s"]) {
        const { exitCode, stdout, stderr } = await call("lock", "busy", "--wait", wait, "--", "echo", "ran");
        expect({ exitCode, stdout }).toEqual({ exitCode: 75, stdout: "" });
        expect(stderr).toMatch(/^holdfast: 'busy' is held by first \(pid \d+ on .+\)\n$/);
      }
    });

    test("who waits is served when the first is done", async () => {
      const holder = lock("turns", "--", "sh", "-c", "echo holding; read line");
      await holder.printed(/holding/);
      const waiter = lock("turns", "--json", "--wait", "forever", "--", "echo", "mine");
      await waiter.printed(/"waiting"/, "stderr");
      holder.child.stdin?.end("done\n");
      expect(await waiter.ended()).toMatchObject({ exitCode: 0, stdout: "mine\n" });
      expect(waiter.events()).toMatchObject([
        { event: "waiting", lock: "turns", ahead: 0 },
        { event: "acquired", lock: "turns", fence: expect.stringMatching(/^\d{16}$/) },
        { event: "ended", lock: "turns", lost: false, exitCode: 0 },
      ]);
    });

    test("a command that a signal ended: the same signal ends holdfast, and the lock is free", async () => {
      const ended = await lock("codes", "--", "sh", "-c", "kill -TERM $$").ended();
      expect(ended).toMatchObject({ exitCode: null, signal: "SIGTERM", stderr: "" });
      expect(await isFree("codes")).toBe(true);
    });

    test.each([
      { signal: "SIGTERM", ended: { signal: "SIGTERM" } },
      { signal: "SIGINT", ended: { signal: "SIGINT" } },
      { signal: "SIGHUP", ended: { signal: "SIGHUP" } },
      { signal: "SIGUSR1", ended: { exitCode: 138 } },
    ] as const)("$signal is passed on to the whole group", async ({ signal, ended }) => {
      // Of Node.js, which needs no other program; without a handler it would answer SIGUSR1 with a debugger.
      const handler = `process.once("${signal}", (each) => process.kill(process.pid, each));`;
      const ends = `${handler} console.log(process.pid); setTimeout(() => {}, 60_000)`;
      const program = lock("relay", "--", "sh", "-c", `"$0" -e '${ends}'; exit 1`, process.execPath);
      const [inner = ""] = await program.printed(/^\d+$/m);
      program.child.kill(signal);
      expect(await program.ended()).toMatchObject({ ...ended, stderr: "" });
      await expect.poll(() => isAlive(Number(inner)), WITHIN).toBe(false);
    });

    test("a command that handles the signal has the last word", async () => {
      const program = lock(
        "last",
        "--",
        "sh",
        "-c",
        "trap 'exit 9' TERM; echo ready; while :; do sleep 0.05; done",
      );
      await program.printed(/ready/);
      program.child.kill("SIGTERM");
      expect(await program.ended()).toMatchObject({ exitCode: 9 });
    });

    test.each([
      ["SIGINT", { signal: "SIGINT" }],
      ["SIGTERM", { signal: "SIGTERM" }],
      ["SIGHUP", { signal: "SIGHUP" }],
      ["SIGQUIT", { exitCode: 131 }],
    ] as const)("%s while waiting leaves no place in line behind", async (signal, ended) => {
      await hold("patience", "");
      const waiter = lock("patience", "--json", "--wait", "forever", "--", "true");
      await waiter.printed(/"waiting"/, "stderr");
      waiter.child.kill(signal);
      expect(await waiter.ended()).toMatchObject(ended);
      expect(await server.redis.zcard("holdfast:{patience}:line")).toBe(0);
    });

    test("no guard is left behind", async () => {
      const program = lock("guarded", "--grace", "59s", "--", "sh", "-c", "echo $$; read line");
      await program.printed(/\d/);
      expect(guards()).toHaveLength(1);
      program.child.stdin?.end();
      await program.ended();
      await expect.poll(guards, WITHIN).toEqual([]);
    });

    test("a lease that the server forgot stops the whole group: exit code 70", async () => {
      const program = lock("forgotten", "--ttl", "600ms", "--", "sh", "-c", "sleep 60 & echo $!; wait");
      const [inner = ""] = await program.printed(/^\d+$/m);
      await server.redis.del("holdfast:{forgotten}:lock");
      const { exitCode, stderr } = await program.ended();
      expect(exitCode).toBe(70);
      expect(stderr).toMatch(
        /^holdfast: the lease on 'forgotten' \(fence \d+\) is over \(forgotten\): stopping the command\n$/,
      );
      expect(isAlive(Number(inner))).toBe(false);
    });

    test("a command that ignores SIGTERM is killed after the grace", async () => {
      const stubborn = `process.on("SIGTERM", () => {}); console.log("ready"); setTimeout(() => {}, 60_000)`;
      const program = lock(
        "stubborn",
        "--ttl",
        "600ms",
        "--grace",
        "300ms",
        "--json",
        "--",
        process.execPath,
        "-e",
        stubborn,
      );
      await program.printed(/ready/);
      await server.redis.del("holdfast:{stubborn}:lock");
      expect(await program.ended()).toMatchObject({ exitCode: 70 });
      expect(program.events()).toMatchObject([
        { event: "acquired" },
        { event: "lost", lock: "stubborn", reason: "forgotten" },
        { event: "ended", lost: true, exitCode: 137 },
      ]);
    });

    test("a stopped command is ended as well", async () => {
      const program = lock("stopped", "--ttl", "600ms", "--", ...SLEEPER);
      const [pid = ""] = await program.printed(/^\d+$/m);
      process.kill(Number(pid), "SIGSTOP");
      await server.redis.del("holdfast:{stopped}:lock");
      expect(await program.ended()).toMatchObject({ exitCode: 70 });
      expect(isAlive(Number(pid))).toBe(false);
    });

    test("SIGTSTP stops the command with holdfast; if the lease ran out meanwhile, it does not run on", async () => {
      const program = lock("paused", "--ttl", "500ms", "--", ...SLEEPER);
      const [pid = ""] = await program.printed(/^\d+$/m);
      program.child.kill("SIGTSTP");
      expect(await lock("paused", "--", "true").ended()).toMatchObject({ exitCode: 0 });
      expect(isAlive(Number(pid))).toBe(true);
      program.child.kill("SIGCONT");
      expect(await program.ended()).toMatchObject({ exitCode: 70 });
      expect(isAlive(Number(pid))).toBe(false);
    });
  });
});

test("Redis goes away: the command is stopped when its lease runs out", async () => {
  const server = await startEmbedded();
  const program = new Program(["lock", "away", "--ttl", "800ms", "--redis", server.url, "--", ...SLEEPER]);
  const [pid = ""] = await program.printed(/^\d+$/m);
  await server.stop();
  const { exitCode, stderr } = await program.ended();
  expect(exitCode).toBe(70);
  expect(stderr).toContain("(expired)");
  expect(isAlive(Number(pid))).toBe(false);
});

describe("Redis is gone", () => {
  test("when the command has ended: said, and its exit code stands", async () => {
    const server = await startEmbedded();
    const args = [
      "--timeout",
      "1s",
      "--redis",
      server.url,
      "--",
      "sh",
      "-c",
      "echo holding; read word; exit 3",
    ];
    const program = new Program(["lock", "gone", ...args]);
    await program.printed(/^holding$/m);
    await server.stop();
    program.child.stdin?.end("word\n");
    expect(await program.ended()).toMatchObject({
      exitCode: 3,
      stderr: "holdfast: Redis did not answer the release of 'gone': the lock is free within 30 s\n",
    });
  });

  test("at the end of a wait: exit code 69, and no call is waited for", async () => {
    const server = await startEmbedded();
    const holder = new Program(["lock", "gone", "--redis", server.url, "--", ...SLEEPER]);
    await holder.printed(/^\d+$/m);
    const args = ["--json", "--wait", "2s", "--timeout", "60s", "--redis", server.url, "--", "true"];
    const waiter = new Program(["lock", "gone", ...args]);
    await waiter.printed(/"waiting"/, "stderr");
    await server.stop();
    expect(await waiter.ended()).toMatchObject({ exitCode: 69, stdout: "" });
    expect(waiter.events()).toMatchObject([
      { event: "waiting" },
      { event: "away", lock: "gone" },
      { event: "error", code: "UNAVAILABLE", exitCode: 69, message: expect.stringContaining("no Redis at") },
    ]);
  });
});
