/** `holdfast record`. */
import { expect, test, vi } from "vitest";
import { callerOf } from "./call.js";
import { jsonLines } from "./printed.js";
import { startBeside } from "./servers.js";

vi.setConfig({ testTimeout: 60_000 });

const { server, hf } = await startBeside();

const { start, call: holdfast, fed } = callerOf(() => [server.url]);

test("put prints the version, get the value; with another version put conflicts, and shows what is there", async () => {
  const put = await holdfast("record", "put", "flags", '{"new": true}');
  expect(put).toMatchObject({ exitCode: 0, stderr: "" });
  const [version] = /^\d{16}(?=\n$)/.exec(put.stdout) ?? [];
  expect(await holdfast("record", "get", "flags")).toMatchObject({ exitCode: 0, stdout: '{"new":true}\n' });
  const next = await hf.record("flags").put({ new: false });
  const late = await holdfast("record", "put", "flags", "{}", "--if-version", String(version));
  expect(late).toMatchObject({ exitCode: 3, stdout: "" });
  expect(late.stderr).toBe(
    `holdfast: 'flags' has version ${next.version}, which is {"new":false}, and not version ${version}: nothing was changed\n`,
  );
  const json = await holdfast("record", "put", "flags", "{}", "--if-version", "0", "--json");
  expect(json).toMatchObject({ exitCode: 3, stdout: "" });
  expect(jsonLines(json.stderr)).toEqual([
    {
      event: "error",
      code: "CONFLICT",
      exitCode: 3,
      message: expect.stringContaining("where no value was expected"),
      name: "flags",
      exists: true,
      version: String(next.version),
      value: { new: false },
      encoding: "json",
    },
  ]);
  const met = await holdfast("record", "put", "flags", "[]", "--if-version", String(next.version), "--json");
  expect(JSON.parse(met.stdout)).toEqual({
    name: "flags",
    tag: null,
    version: expect.stringMatching(/^\d{16}$/),
  });
});

test("a value comes from stdin, as text or as bytes, and has the tag and the end that were given", async () => {
  await fed('"from a pipe"', "record", "put", "motd", "--tag", "shop", "--keep", "1h");
  const [record] = (await inspected("motd")) ?? [];
  expect(record).toMatchObject({ tag: "shop", value: "from a pipe" });
  expect(record?.remainingMs).toBeLessThanOrEqual(3_600_000);
  expect(await holdfast("record", "get", "motd")).toMatchObject({
    exitCode: 1,
    stderr: "holdfast: there is no record 'motd'\n",
  });
  expect((await holdfast("record", "get", "motd", "--tag", "shop", "--raw")).stdout).toBe("from a pipe");
  await holdfast("record", "put", "note", "--text", "not JSON\u001b[2J");
  expect((await holdfast("record", "get", "note")).stdout).toBe('"not JSON\\u001b[2J"\n');
  await fed(Uint8Array.of(0, 255), "record", "put", "logo", "--bytes");
  const logo = JSON.parse((await holdfast("record", "get", "logo", "--json")).stdout);
  expect(logo).toMatchObject({ value: "AP8=", encoding: "base64", exists: true });
  expect((await hf.record("logo").get())?.value).toEqual(Uint8Array.of(0, 255));
});

test.each([
  { args: ["put", "x", "plain"], says: "VALUE is not JSON (" },
  { args: ["put", "x", "[12345678901234567890]"], says: "put 12345678901234567890 in quotes" },
  { args: ["put", "x", "[1.50, 0.12345678901234567890]"], says: "put 0.12345678901234567890 in quotes" },
  { args: ["put", "x", "1e400"], says: "put 1e400 in quotes" },
  { args: ["put", "x", "1", "--if-version", "1.5"], says: "--if-version" },
  { args: ["put", "x", "1", "--keep", "never"], says: "--keep" },
  { args: ["delete", "x"], says: "add --yes" },
  { args: ["put", "", "1"], says: "NAME must not be empty" },
  { args: ["get"], says: "missing required argument 'name'" },
  { args: [], says: "a command is missing" },
])("record $args is refused: $says", async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await holdfast("record", ...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toContain(says);
});

test("a number that JSON keeps is taken however it is written", async () => {
  const numbers = "[0.10, 1.5e3, 100000000000000000000, -0.000120, 1E-7, 0e5]";
  expect(await holdfast("record", "put", "numbers", numbers)).toMatchObject({ exitCode: 0 });
  expect((await hf.record("numbers").get())?.value).toEqual([0.1, 1_500, 1e20, -0.00012, 1e-7, 0]);
});

test("delete says what it did, and keeps what is of another version", async () => {
  const { version } = await hf.record("old").put(1);
  const other = await holdfast("record", "delete", "old", "--yes", "--if-version", String(version - 1n));
  expect(other.exitCode).toBe(3);
  const done = await holdfast("record", "delete", "old", "--yes");
  expect(done).toMatchObject({ exitCode: 0, stdout: "'old' is deleted\n" });
  const again = await holdfast("record", "delete", "old", "--yes", "--json");
  expect(JSON.parse(again.stdout)).toEqual({ name: "old", tag: null, deleted: false });
});

test("ls: a table, the pattern, the tag, and what was deleted with --all; no name reaches the terminal as it is", async () => {
  const name = "list:\u001b]0;x\u0007";
  await hf.record(name).put("a");
  await hf.record("list:b", { tag: "t" }).put({ long: "y".repeat(500) });
  await hf.record("list:c").put(1);
  await hf.record("list:c").delete();
  const { exitCode, stdout } = await holdfast("record", "ls", "list:*");
  expect(exitCode).toBe(0);
  const [head, first, second, ...rest] = stdout.split("\n");
  expect(head).toMatch(/^RECORD +TAG +VERSION +CHANGED +EXPIRES +FENCE +VALUE$/);
  expect(first).toMatch(/^list:\\u\{1b\}\]0;x\\u\{7\} +\d{16} +\S+Z +never +"a"$/);
  expect(second).toMatch(/^list:b +t +\d{16} .*…$/);
  expect(rest).toEqual([""]);
  const all = JSON.parse((await holdfast("record", "ls", "list:*", "--all", "--json")).stdout);
  expect(all.records.map((each: { name: string; exists: boolean }) => [each.name, each.exists])).toEqual([
    [name, true],
    ["list:b", true],
    ["list:c", false],
  ]);
  const tagged = JSON.parse((await holdfast("record", "ls", "--tag", "t*", "--json")).stdout);
  expect(tagged.records).toMatchObject([{ name: "list:b", tag: "t", encoding: "json" }]);
  expect((await holdfast("record", "ls", "nothing:*")).stderr).toBe("holdfast: there is no record\n");
});

test("watch prints each state until Ctrl-C", async () => {
  const plain = start("record", "watch", "door");
  const lines = start("record", "watch", "door", "--json");
  await plain.printed(/Z no value\n/);
  await lines.printed(/"exists":false/);
  const { version } = await hf.record("door").put({ open: true });
  await plain.printed(new RegExp(`Z ${version} \\{"open":true\\}\\n`));
  await lines.printed(/"open":true/);
  await hf.record("door").delete();
  await plain.printed(/no value\n[\s\S]*no value\n/);
  await lines.printed(/"exists":false[\s\S]*"exists":false/);
  for (const each of [plain, lines]) each.kill("SIGINT");
  expect(await plain.ended()).toMatchObject({ exitCode: 0, stderr: "" });
  const { exitCode, stdout } = await lines.ended();
  expect(exitCode).toBe(0);
  expect(jsonLines(stdout)[1]).toEqual({
    at: expect.stringMatching(/Z$/),
    name: "door",
    exists: true,
    value: { open: true },
    encoding: "json",
    version: String(version),
  });
});

async function inspected(name: string) {
  const found = [];
  for await (const record of (await hf.inspector()).records({ pattern: name })) found.push(record);
  return found;
}
