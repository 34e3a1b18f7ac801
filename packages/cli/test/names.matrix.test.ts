/** Names and labels that strangers chose, as each command prints them: no character of theirs acts on a terminal. */
import { Holdfast } from "holdfast";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { jsonLines } from "./printed.js";
import { MAIN, Program } from "./program.js";
import { startEmbedded, type TestServer } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

/** Escape sequences, their forms of one character, invisible and reordering characters, a line of its own. */
const NAME =
  "a\u001b[31mRED\u001b]0;title\u0007\u009b2J\u007f\u0085\u202e\u200b\u2028\u{e0041}\u3164\ufe0f\u034f\u00a0\u2800\r\nholdfast: done";
/** What may stand in the output as it is: everything else that is not seen has been escaped. */
const UNSEEN = /(?![\n ])[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

let server: TestServer;

beforeAll(async () => {
  server = await startEmbedded();
  const hf = new Holdfast(server.redis, { label: NAME });
  await hf.mutex(NAME, { ttl: 600_000 }).acquire();
  // The server refuses calls on a key that holdfast has not written, and quotes it.
  await server.redis.set(`holdfast:{other${NAME}}:lock`, "garbage");
  await hf.limit(NAME, { type: "lifetime", max: 5 }).take(NAME);
});

afterAll(() => server.stop());

const { start, call: holdfast } = callerOf(() => [server.url]);

const COMMANDS = [
  ["ls"],
  ["show", NAME],
  ["limits", "ls"],
  ["limits", "show", NAME, NAME],
  ["limit", NAME, NAME, "--type", "lifetime", "--max", "5", "--peek"],
  ["lock", NAME, "--wait", "0", "--", "true"],
  ["release", NAME, "--force", "--yes", "--fence", "1"],
  ["doctor"],
];

describe.each([{ json: [] }, { json: ["--json"] }])("$json", ({ json }) => {
  test.each(COMMANDS)("%s", async (command, ...args) => {
    const [words, rest] = command === "lock" ? [args.slice(0, 3), args.slice(3)] : [args, []];
    const { exitCode, stdout, stderr } = await holdfast(command, ...words, ...json, ...rest);
    expect([0, 1, 75]).toContain(exitCode);
    expect(stdout + stderr).not.toMatch(UNSEEN);
    // A line break of the name begins no line.
    expect(stdout + stderr).not.toMatch(/^holdfast: done/m);
    if (json.length > 0) {
      const [document] = jsonLines(stdout || stderr);
      if (command !== "doctor") expect(JSON.stringify(document)).toContain(JSON.stringify(NAME).slice(1, -1));
    }
  });

  test("watch", async () => {
    const watching = start("watch", ...json);
    await watching.printed(/holdfast: done/);
    watching.kill("SIGINT");
    expect((await watching.ended()).stdout).not.toMatch(UNSEEN);
  });

  test("errors that quote a name", async () => {
    const refused = await holdfast("show", `other${NAME}`, ...json);
    expect(refused).toMatchObject({ exitCode: 69, stderr: expect.stringContaining("WRONGTYPE") });
    const unknown = await holdfast("ls", `--${NAME}`, ...json);
    expect(unknown.exitCode).toBe(64);
    for (const { stdout, stderr } of [refused, unknown]) expect(stdout + stderr).not.toMatch(UNSEEN);
  });
});

test("a name of a megabyte, which somebody has written by hand, is cut in a table and in errors", async () => {
  const name = `big${"x".repeat(1_000_000)}`;
  await server.redis.set(`holdfast:{${name}}:lock`, `${"1".padStart(16, "0")} `);
  const table = await holdfast("ls", "--all");
  expect(table.stdout).toContain("bigxxx");
  expect(table.stdout.length).toBeLessThan(20_000);
  const told = await holdfast("ls", "--all", "--json");
  expect({ exitCode: told.exitCode, stderr: told.stderr }).toEqual({ exitCode: 0, stderr: "" });
  const { locks } = JSON.parse(told.stdout);
  expect(locks).toContainEqual(expect.objectContaining({ name }));
  await server.redis.del(`holdfast:{${name}}:lock`);
});

test.each([
  ["a name", '"$0" "$1" lock "$2" -- true'],
  ["an argument of the command", '"$0" "$1" lock x -- echo "$2"'],
])("%s that is not UTF-8 is refused, because it would be another one", async (_, call) => {
  const script = `set -- ${MAIN} "$(printf 'g\\374nther')"; ${call}`;
  const program = new Program(
    ["-c", script, process.execPath],
    { HOLDFAST_REDIS: server.url },
    [],
    "/bin/sh",
  );
  expect(await program.ended()).toMatchObject({
    exitCode: 64,
    stdout: "",
    stderr: "holdfast: an argument is not UTF-8\n",
  });
});
