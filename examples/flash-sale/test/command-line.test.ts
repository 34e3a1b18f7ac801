/** Arguments, exit codes, and ends before time. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { freePort } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { CommanderError } from "commander";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { parseOptions } from "../src/options.js";
import { Program, run } from "./store-program.js";

const SERVERS = 2;
const LONG = ["--no-report", "--requests", "1000000", "--servers", `${SERVERS}`, "--variants", "mutex"];
const LONG_REDLOCK = [...LONG.slice(0, -1), "redlock", "--redlock"];

/** The program ends with 64 for it; the help that was asked for is none. */
const isMisuse = (error: unknown): boolean => error instanceof CommanderError && error.exitCode !== 0;

// Whole processes: a few seconds each, several times that on a machine with its hands full.
vi.setConfig({ testTimeout: 60_000 });

describe("the command line", () => {
  test.each([
    { args: ["--stock", "0"] },
    { args: ["--requests", "many"] },
    { args: ["--variants", "none,luck"] },
    { args: ["--variants", "mutex,mutex"] },
    { args: ["--report", "/no-such-folder/sale.html"] },
    { args: ["--report", tmpdir()] },
    { args: ["--redis", "localhost"] },
    { args: ["--concurrency", "20", "--requests", "10"] },
    { args: ["--kill", "--variants", "none,script"] },
    { args: ["--kill", "--servers", "1"] },
    { args: ["--serve", "--once"] },
    { args: ["--redlock", "--redis", "redis://127.0.0.1:6379"] },
    { args: ["--redlock", "--variants", "none,mutex"] },
    { args: ["--variants", "none,redlock"] },
    { args: ["--redlock", "--kill", "--variants", "none"] },
    { args: ["--unknown"] },
    { args: ["surplus"] },
  ])("refuses $args", ({ args }) => {
    let told = "";
    const complain = (text: string) => {
      told += text;
    };
    expect(() => parseOptions(args, complain)).toThrow(expect.toSatisfy(isMisuse));
    expect(told).toMatch(/^error: .+\n/);
    expect(told).toContain("--help");
  });

  test("ends with 64 when it refuses", async () => {
    const { exitCode, stdout, stderr } = await run(["--unknown"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
    expect(stderr).toMatch(/^error: .+\n/);
    expect(stderr).toContain("--help");
  });

  test("explains itself with examples", async () => {
    const { exitCode, stdout } = await run(["--help"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("npm start -- --once --json");
    expect(stdout).toContain("npm start -- --redlock");
    expect(stdout).toContain("oversold");
  });
});

describe("what is missing is told in one line, with a remedy", () => {
  test("no Redis", async () => {
    expect(await complaintOf(["--redis", "redis://127.0.0.1:1"])).toMatch(
      /^flash-sale: no Redis at .+ECONNREFUSED/,
    );
  });

  test("a Redis with a password", async () => {
    const valkey = await EmbeddedValkey.start({ config: "requirepass secret" });
    onTestFinished(() => valkey.stop());
    const url = new URL(valkey.url);
    url.password = "";
    expect(await complaintOf(["--redis", url.href])).toMatch(
      /asks for a password: .+ redis:\/\/:password@host/,
    );
    url.password = "wrong";
    const complaint = await complaintOf(["--redis", url.href]);
    expect(complaint).toContain("refuses the user name or the password");
    expect(complaint).not.toContain("wrong");
  });

  test.each([
    { named: "", says: "HOLDFAST_NGINX is empty" },
    {
      named: "/no/nginx",
      says: "/no/nginx, where HOLDFAST_NGINX says nginx is: correct it, or install the package",
    },
  ])('no nginx, named "$named"', async ({ named, says }) => {
    expect(await complaintOf(["--nginx"], { HOLDFAST_NGINX: named })).toContain(says);
  });

  test("a port in use", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    expect(await complaintOf(["--port", String(port)])).toBe(
      `flash-sale: port ${port} on 127.0.0.1 is in use: choose another, or leave --port out`,
    );
  });

  test("a Redis that goes away in the middle of the sale", async () => {
    const valkey = await EmbeddedValkey.start({ port: await freePort() });
    const program = new Program([...LONG, "--redis", valkey.url]);
    await expect.poll(() => serversOf(program), { timeout: 30_000 }).toBe(SERVERS);
    await valkey.stop();
    const { exitCode, stderr } = await program.ended();
    expect(exitCode).toBe(69);
    expect(stderr).toMatch(/^flash-sale: Redis at .+ went away.*\n$/);
    expect(await program.leftBehind()).toEqual([]);
  });
});

async function complaintOf(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await run([...args, "--no-report"], environment);
  expect({ exitCode, stdout, lines: stderr.split("\n").length - 1 }).toEqual({
    exitCode: 69,
    stdout: "",
    lines: 1,
  });
  return stderr.trimEnd();
}

describe("an end before time", () => {
  test.each([
    { signal: "SIGINT", exitCode: 130, args: LONG },
    { signal: "SIGINT", exitCode: 130, args: LONG_REDLOCK },
    { signal: "SIGTERM", exitCode: 143, args: LONG },
  ] as const)("$signal stops servers and engines of $args in order", async ({ signal, exitCode, args }) => {
    const program = new Program(args);
    await expect.poll(() => serversOf(program), { timeout: 30_000 }).toBe(SERVERS);
    if (signal === "SIGINT") program.signalAll(signal);
    else program.child.kill(signal);
    expect(await program.ended()).toMatchObject({ exitCode, stderr: "flash-sale: stopped\n" });
    expect(await program.leftBehind()).toEqual([]);
  });

  test("the servers go when the first process is killed", async () => {
    const program = new Program(LONG);
    await expect.poll(() => serversOf(program), { timeout: 30_000 }).toBe(SERVERS);
    program.child.kill("SIGKILL");
    expect(await program.leftBehind()).toEqual([]);
  });
});

function serversOf(program: Program): number {
  return program.members().filter((args) => args.includes("web-server.js")).length;
}
