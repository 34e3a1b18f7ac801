/** Arguments, help, and what is said when something is missing. */
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { EmbeddedValkey } from "@holdfast/embedded";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Call, call, callerOf } from "./call.js";
import type { Ended } from "./printed.js";
import { MAIN, Program, run } from "./program.js";

vi.setConfig({ testTimeout: 60_000 });
const { call: callNowhere } = callerOf(() => ["redis://127.0.0.1:1"]);

describe("wrong arguments", () => {
  test.each([
    { args: [] },
    { args: ["nonsense"] },
    { args: ["lock"] },
    { args: ["lock", "x"] },
    { args: ["lock", "x", "--"] },
    { args: ["lock", "x", "true"] },
    { args: ["lock", "x", "--ttl", "10", "--", "true"] },
    { args: ["lock", "x", "--wait", "soon", "--", "true"] },
    { args: ["lock", "x", "--tl", "10s", "--", "true"] },
    { args: ["--redis", "localhost", "lock", "x", "--", "true"] },
    { args: ["embedded", "--port", "70000"] },
    { args: ["completion", "tcsh"] },
  ])("$args: exit code 64, a complaint, and where the help is", async ({ args }) => {
    const { exitCode, stdout, stderr } = await callNowhere(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
    expect(stderr).toMatch(/^(holdfast: |Usage: holdfast )/);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test.each([
    { args: ["lock", "", "--", "true"], says: "NAME must not be empty" },
    { args: ["ls", "--timeout", "5ms"], says: "--timeout must be 10 to" },
    { args: ["embedded", "--max-memory", "lots"], says: "--max-memory is 'lots'" },
    { args: ["lock", "x", "true"], says: "put -- before the command" },
    { args: ["lock", "x", "--ttl", "5ms", "--", "true"], says: "--ttl must be 100 to" },
    { args: ["--prefix", "a b", "lock", "x", "--", "true"], says: "--prefix must be 1 to" },
  ])("what the library refuses is said with the words of the command line: $says", async ({ args, says }) => {
    expect(await callNowhere(...args)).toMatchObject({
      exitCode: 64,
      stderr: expect.stringContaining(`holdfast: ${says}`),
    });
  });

  test("--wait says what it takes", async () => {
    const { stderr } = await callNowhere("lock", "x", "--wait", "abc", "--", "true");
    expect(stderr).toMatch(/^holdfast: option '--wait <duration>' .*0 .*such as .*10s.*forever/);
  });

  test("as JSON", async () => {
    const { exitCode, stderr } = await call(["lock", "x", "--json", "--tl", "10s", "--", "true"]);
    expect(exitCode).toBe(64);
    expect(JSON.parse(stderr)).toMatchObject({ event: "error", code: "USAGE", exitCode: 64 });
    const missing = await call(["limits", "--json"]);
    expect(JSON.parse(missing.stderr)).toMatchObject({ code: "USAGE", message: "a command is missing" });
  });
});

describe("help", () => {
  test.each([["--help"], ["help", "lock"], ["lock", "--help"], ["embedded", "--help"], ["limits", "--help"]])(
    "%s %s has examples and exit codes",
    async (...args) => {
      const { exitCode, stdout, stderr } = await call(args.filter((arg) => arg !== undefined));
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toContain("Examples:");
      expect(stdout).toContain("69");
      expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    },
  );

  test("once says which option must be there, and how to forget", async () => {
    const { stdout } = await call(["once", "--help"]);
    expect(stdout).toMatch(/^Usage: holdfast once KEY --keep .*\n {7}holdfast once KEY --forget\n/);
    expect(stdout).toContain("required: how long");
  });

  test("--version is that of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(await call(["--version"])).toMatchObject({ exitCode: 0, stdout: `${version}\n` });
  });
});

describe("a Redis that cannot be had is told in one line, with a remedy", () => {
  test("nobody listens", async () => {
    const { exitCode, stdout, stderr } = await callNowhere("lock", "x", "--", "true");
    expect({ exitCode, stdout }).toEqual({ exitCode: 69, stdout: "" });
    expect(stderr).toMatch(
      /^holdfast: no Redis at redis:\/\/127\.0\.0\.1:1.+ECONNREFUSED.+HOLDFAST_REDIS.+\n$/,
    );
  });

  test("an empty variable is as one that is not set", async () => {
    const valkey = await EmbeddedValkey.start();
    onTestFinished(() => valkey.stop());
    const empty = { HOLDFAST_REDIS: "", HOLDFAST_PREFIX: "" };
    const ended = await run(["lock", "x", "--redis", valkey.url, "--", "sh", "-c", "true"], empty);
    expect(ended).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("a password is asked for, or wrong, and never printed", async () => {
    const valkey = await EmbeddedValkey.start({ config: "requirepass secret" });
    onTestFinished(() => valkey.stop());
    const url = new URL(valkey.url);
    const none = await call(["lock", "x", "--redis", url.href, "--", "true"]);
    expect(none).toMatchObject({ exitCode: 69, stderr: expect.stringContaining("asks for a password") });
    url.password = "guess";
    const wrong = await call(["lock", "x", "--redis", url.href, "--", "true"]);
    expect(wrong).toMatchObject({
      exitCode: 69,
      stderr: expect.stringContaining("refuses the user name or"),
    });
    expect(wrong.stderr).not.toContain("guess");
    url.password = "secret";
    expect(await run(["lock", "x", "--redis", url.href, "--", "true"])).toMatchObject({ exitCode: 0 });
  });
});

describe("the database of the URL", () => {
  test.each(["/abc", "/-1", "/1/2", "?db=3", "/01"])("%s is refused before anything runs", async (path) => {
    const { exitCode, stdout, stderr } = await call([
      "lock",
      "x",
      "--redis",
      `redis://:secret@127.0.0.1:1${path}`,
      "--",
      "echo",
      "ran",
    ]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
    expect(stderr).toMatch(/^holdfast: the URL of --redis or HOLDFAST_REDIS has .*: write it as redis:.*\n$/);
    expect(stderr).not.toContain("secret");
  });

  test("one that the server does not have: exit code 69 and a remedy, and the command does not run", async () => {
    const valkey = await EmbeddedValkey.start();
    onTestFinished(() => valkey.stop());
    const [last, beyond] = [`${valkey.url}/15`, `${valkey.url}/99`];
    const { call: callBeyond } = callerOf(() => [beyond]);
    for (const args of [
      ["lock", "x", "--", "echo", "ran"],
      ["ls"],
      ["limit", "a", "b", "--max", "1", "--per", "1h"],
    ]) {
      const { exitCode, stdout, stderr } = await callBeyond(...args);
      expect({ exitCode, stdout }).toEqual({ exitCode: 69, stdout: "" });
      expect(stderr).toBe(
        `holdfast: Redis at ${beyond} refuses the database of the URL (ERR DB index is out of range): name another, redis://host:port/0\n`,
      );
    }
    expect(await run(["lock", "x", "--", "echo", "ran"], { HOLDFAST_REDIS: last })).toMatchObject({
      exitCode: 0,
      stdout: "ran\n",
    });
  });

  test("one that the server does not have: doctor says so in its findings as well", async () => {
    const valkey = await EmbeddedValkey.start();
    onTestFinished(() => valkey.stop());
    const beyond = `${valkey.url}/99`;
    const told = `Redis at ${beyond} refuses the database of the URL (ERR DB index is out of range): name another, redis://host:port/0`;
    const { exitCode, stdout, stderr } = await callerOf(() => [beyond]).call("doctor", "--json");
    expect({ exitCode, report: JSON.parse(stdout) }).toMatchObject({
      exitCode: 69,
      report: { healthy: false, findings: [{ code: "unreachable", severity: "error", found: told }] },
    });
    expect(JSON.parse(stderr)).toMatchObject({ event: "error", code: "UNAVAILABLE", message: told });
  });
});

test("as a process, a command ends by itself when its work is done", async () => {
  const valkey = await EmbeddedValkey.start();
  onTestFinished(() => valkey.stop());
  const env = { HOLDFAST_REDIS: valkey.url };
  for (const command of [
    "queue push mail 1",
    "queue pop mail --wait forever",
    "lanes push mail ada 1",
    "record put flags {}",
    "event set imported",
    "signal wait go --wait 0",
    "limit sms ada --max 1 --per 1h",
    "once --forget key",
    "ls --kind queue",
    "leader jobs",
    "doctor",
  ])
    expect(await run(command.split(" "), env), command).toMatchObject({
      signal: null,
      exitCode: expect.toSatisfy((code) => [0, 1, 75].includes(code)),
    });
});

describe("a server that accepts and never answers", () => {
  async function silentServer(): Promise<{ url: string; reached: Promise<unknown> }> {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const sockets: Socket[] = [];
    listener.on("connection", (socket) => sockets.push(socket));
    onTestFinished(() => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    });
    const { port } = listener.address() as AddressInfo;
    return { url: `redis://127.0.0.1:${port}`, reached: once(listener, "connection") };
  }

  test("is given up", async () => {
    const { exitCode, stderr } = await call([
      "ls",
      "--timeout",
      "200ms",
      "--redis",
      (await silentServer()).url,
    ]);
    expect(exitCode).toBe(69);
    expect(stderr).toMatch(/no answer within 200 ms/);
  });

  test.each([{ args: ["ls"] }, { args: ["watch"] }, { args: ["lock", "x"] }])(
    "Ctrl-C does not wait for it: $args",
    async ({ args: [command = "", ...rest] }) => {
      const { url, reached } = await silentServer();
      const program = new Call([
        command,
        ...rest,
        "--redis",
        url,
        ...(command === "lock" ? ["--", "true"] : []),
      ]);
      await reached;
      program.kill("SIGINT");
      expect(await program.ended()).toMatchObject({
        signal: "SIGINT",
        stdout: "",
        stderr: "holdfast: ended by SIGINT\n",
      });
    },
  );
});

describe("output that cannot be written", () => {
  const into = (file: string, ...args: string[]): Promise<Ended> => {
    const command = `"$0" ${MAIN} ${args.join(" ")} > ${file}`;
    return new Program(["-c", command, process.execPath], {}, [], "/bin/sh").ended();
  };

  test.skipIf(!existsSync("/dev/full"))("no room: one line, and exit code 74", async () => {
    for (const args of [["completion", "bash"], ["--help"]])
      expect(await into("/dev/full", ...args)).toMatchObject({
        exitCode: 74,
        stderr: "holdfast: cannot write the output (ENOSPC)\n",
      });
  });

  test("whoever read it is gone: no word, no error", async () => {
    const program = new Program(["completion", "bash"]);
    program.child.stdout?.destroy();
    expect(await program.ended()).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("holdfast embedded", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "prints its URL, serves, and ends by %s with exit code 0",
    async (name) => {
      const engine = new Program(["embedded", "--port", "0"]);
      const [url = ""] = await engine.printed(/^redis:\/\/127\.0\.0\.1:\d+$/m);
      expect(await run(["lock", "x", "--redis", url, "--", "true"])).toMatchObject({ exitCode: 0 });
      engine.child.kill(name);
      expect(await engine.ended()).toMatchObject({ exitCode: 0, stdout: `${url}\n`, stderr: "" });
    },
  );

  test("as JSON; a port in use is exit code 69", async () => {
    const engine = new Program(["embedded", "--port", "0", "--json"]);
    const [line = ""] = await engine.printed(/^\{.*\}$/m);
    const { url, host, port, pid } = JSON.parse(line);
    expect({ url, host, pid }).toEqual({
      url: `redis://${host}:${port}`,
      host: "127.0.0.1",
      pid: engine.child.pid,
    });
    const second = await call(["embedded", "--port", String(port)]);
    expect(second).toMatchObject({ exitCode: 69, stdout: "" });
    expect(second.stderr).toMatch(/^holdfast: Port \d+ on 127\.0\.0\.1 is in use/);
  });
});
