/** Arguments, exit codes, and ends before time. */
import { describe, expect, test, vi } from "vitest";
import { Program, run } from "./store-program.js";

const LONG = ["--no-report", "--requests", "1000000", "--variants", "mutex"];

// Whole processes: a few seconds each, several times that on a machine with its hands full.
vi.setConfig({ testTimeout: 60_000 });

describe("the command line", () => {
  test.each([
    { args: ["--stock", "0"] },
    { args: ["--requests", "many"] },
    { args: ["--variants", "none,luck"] },
    { args: ["--redis", "localhost"] },
    { args: ["--concurrency", "20", "--requests", "10"] },
    { args: ["--kill", "--variants", "none,script"] },
    { args: ["--kill", "--servers", "1"] },
    { args: ["--serve", "--once"] },
    { args: ["--unknown"] },
    { args: ["surplus"] },
  ])("refuses $args with exit code 64", async ({ args }) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
    expect(stderr).toMatch(/^error: .+\n/);
    expect(stderr).toContain("--help");
  });

  test("explains itself with examples", async () => {
    const { exitCode, stdout } = await run(["--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("npm start -- --once --json");
    expect(stdout).toContain("oversold");
  });

  test("says so when there is no Redis, and no nginx", async () => {
    const [redis, nginx] = await Promise.all([
      run(["--redis", "redis://127.0.0.1:1"]),
      run(["--nginx"], { HOLDFAST_NGINX: "" }),
    ]);
    expect(redis).toMatchObject({
      exitCode: 69,
      stderr: expect.stringMatching(/^flash-sale: no Redis at .+ECONNREFUSED/),
    });
    expect(nginx).toMatchObject({ exitCode: 69, stderr: "flash-sale: nginx is not installed here\n" });
  });
});

describe("an end before time", () => {
  test.each([
    { signal: "SIGINT", exitCode: 130 },
    { signal: "SIGTERM", exitCode: 143 },
  ] as const)("$signal stops servers and engine in order", async ({ signal, exitCode }) => {
    const program = new Program(LONG);
    await expect.poll(() => serversOf(program), { timeout: 10_000 }).toBe(4);
    if (signal === "SIGINT") program.signalAll(signal);
    else program.child.kill(signal);
    expect((await program.ended()).exitCode).toBe(exitCode);
    expect(await program.leftBehind()).toEqual([]);
  });

  test("the servers go when the first process is killed", async () => {
    const program = new Program(LONG);
    await expect.poll(() => serversOf(program), { timeout: 10_000 }).toBe(4);
    program.child.kill("SIGKILL");
    expect(await program.leftBehind()).toEqual([]);
  });
});

function serversOf(program: Program): number {
  return program.members().filter((args) => args.includes("web-server.js")).length;
}
