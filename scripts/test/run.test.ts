/** A run of the tests leaves nothing: no program, detached or not, and no file, however it ends. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { killLaunched, launch, processList, until } from "@holdfast/conformance";
import { describe, expect, onTestFinished, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

/** In place of a test runner: it starts a program, and one that leads a group of two, and makes a file that nobody removes. */
const SUITE = `
  import { mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { launch } from "@holdfast/conformance";

  mkdtempSync(join(tmpdir(), "left-"));
  const idle = "setInterval(() => {}, 1000);";
  const second = 'require("node:child_process").spawn(process.execPath, ["-e", "' + idle + '"], { stdio: "ignore" });';
  const alone = launch(process.execPath, ["-e", idle], { stdio: "ignore" });
  const leader = launch(process.execPath, ["-e", second + idle + 'process.send("ready")'], {
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  leader.once("message", () => {
    leader.channel.unref();
    console.log(JSON.stringify({ suite: process.pid, alone: alone.pid, leader: leader.pid, folder: tmpdir() }));
    if (process.env.ENDING === "fails") process.exit(1);
    if (process.env.ENDING === "is killed") process.kill(process.pid, "SIGKILL");
  });
`;

const RUNNER = `
  import { Run } from "./scripts/run/run.ts";
  const run = new Run();
  process.exitCode = await run.program(["--input-type=module", "-e", process.env.SUITE], { env: process.env });
  await run.end();
`;

interface Told {
  readonly suite: number;
  readonly alone: number;
  readonly leader: number;
  readonly folder: string;
}

describe.skipIf(process.platform === "win32")("nothing is left when the suite", () => {
  test.each([
    { ending: "fails", by: null, exitCode: 1 },
    { ending: "is killed", by: null, exitCode: 1 },
    { ending: "hears Ctrl-C", by: "SIGINT", exitCode: 130 },
    { ending: "is told to end", by: "SIGTERM", exitCode: 1 },
    { ending: "has a runner that is killed", by: "SIGKILL", exitCode: null },
  ] as const)("$ending", async ({ ending, by, exitCode }) => {
    const runner = launch(process.execPath, ["--import", "tsx", "--input-type=module", "-e", RUNNER], {
      cwd: root,
      env: { ...process.env, SUITE, ENDING: ending },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => killLaunched(runner));
    const ended = new Promise((done) => runner.once("exit", done));
    const lines = createInterface({ input: runner.stdout as NodeJS.ReadableStream });
    const told: Told = JSON.parse(await new Promise<string>((done) => lines.once("line", done)));
    const left = () =>
      processList()
        .filter(({ pid, group }) => [told.suite, told.alone].includes(pid) || group === told.leader)
        .map(({ command }) => command);
    if (by !== null) {
      expect(left()).toHaveLength(4);
      runner.kill(by);
    }
    expect(await ended).toBe(exitCode);
    // A runner that is killed waits for nothing, and a process takes its time to die.
    await until("nothing is left", async () => left().length === 0 && !existsSync(told.folder));
  });
});
