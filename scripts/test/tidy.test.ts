import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { tidy } from "../tidy.ts";
import { tree } from "./tree.ts";

const published = { description: "a", license: "MIT", keywords: ["lock"] };
const house = {
  "package.json": JSON.stringify({ name: "house", devDependencies: { vitest: "4" } }),
  "scripts/package.json": JSON.stringify({ name: "scripts", private: true }),
  "packages/holdfast/package.json": JSON.stringify({
    name: "holdfast",
    ...published,
    peerDependencies: { ioredis: ">=6" },
  }),
  "packages/holdfast/README.md": "",
  "packages/holdfast/LICENSE": "",
  "packages/conformance/package.json": JSON.stringify({
    name: "@holdfast/conformance",
    private: true,
    dependencies: { holdfast: "1" },
  }),
  "examples/sale/package.json": JSON.stringify({
    name: "sale",
    private: true,
    dependencies: { holdfast: "1" },
  }),
};
const lib = "packages/holdfast/src";

/** Findings of a tree, "file:line rule", with the common prefix of the library cut. */
function findings(files: Readonly<Record<string, string>>): string[] {
  const folder = tree({ ...house, ...files });
  return tidy(folder).map(({ file, line, rule }) => `${file.replace(`${lib}/`, "")}:${line} ${rule}`);
}

describe("direction, inside the library", () => {
  const target = { empty: "export {};\n" };
  const files = (paths: string[]) =>
    Object.fromEntries(paths.map((path) => [`${lib}/${path}`, target.empty]));
  const all = files([
    "index.ts",
    "holdfast.ts",
    "errors.ts",
    "time/clock.ts",
    "telemetry/channel.ts",
    "lease/lease.ts",
    "lease/keeper.ts",
    "redis/port.ts",
    "redis/connection.ts",
    "redis/clients/ioredis.ts",
    "locks/mutex.ts",
    "locks/backend.ts",
    "locks/backends/redis/backend.ts",
    "locks/backends/etcd/backend.ts",
    "limits/rolling.ts",
    "election/election.ts",
  ]);

  test.each([
    ["lease/lease.ts", "../locks/mutex.js"],
    ["lease/lease.ts", "../redis/port.js"],
    ["time/clock.ts", "../lease/lease.js"],
    ["errors.ts", "./time/clock.js"],
    ["telemetry/channel.ts", "../lease/lease.js"],
    ["locks/mutex.ts", "./backends/redis/backend.js"],
    ["locks/mutex.ts", "../redis/clients/ioredis.js"],
    ["locks/mutex.ts", "../redis/connection.js"],
    ["locks/mutex.ts", "../limits/rolling.js"],
    ["locks/mutex.ts", "../holdfast.js"],
    ["locks/backends/redis/backend.ts", "../../mutex.js"],
    ["locks/backends/redis/backend.ts", "../etcd/backend.js"],
    ["election/election.ts", "../locks/backends/redis/backend.js"],
    ["redis/connection.ts", "./clients/ioredis.js"],
    ["redis/port.ts", "../locks/mutex.js"],
  ])("%s must not import %s, not even a type", (from, specifier) => {
    const path = `${lib}/${from}`;
    expect(findings({ ...all, [path]: `import type { X } from "${specifier}";\n` })).toEqual([
      `${from}:1 direction`,
    ]);
    expect(findings({ ...all, [path]: `export { X } from "${specifier}";\n` })).toEqual([
      `${from}:1 direction`,
    ]);
    expect(findings({ ...all, [path]: `\ntype X = import("${specifier}").X;\n` })).toEqual([
      `${from}:2 direction`,
    ]);
  });

  test.each([
    ["index.ts", "./holdfast.js"],
    ["index.ts", "./locks/mutex.js"],
    ["holdfast.ts", "./redis/clients/ioredis.js"],
    ["holdfast.ts", "./locks/backends/redis/backend.js"],
    ["locks/mutex.ts", "./backend.js"],
    ["locks/mutex.ts", "../lease/lease.js"],
    ["locks/mutex.ts", "../redis/port.js"],
    ["locks/backends/redis/backend.ts", "../../backend.js"],
    ["locks/backends/redis/backend.ts", "../../../redis/port.js"],
    ["redis/clients/ioredis.ts", "../port.js"],
    ["lease/lease.ts", "../time/clock.js"],
    ["lease/lease.ts", "../telemetry/channel.js"],
    ["election/election.ts", "../locks/mutex.js"],
  ])("%s may import %s", (from, specifier) => {
    expect(findings({ ...all, [`${lib}/${from}`]: `import { X } from "${specifier}";\n` })).toEqual([]);
  });

  test("a script may include what its room may import", () => {
    const script = (from: string, target: string): string[] =>
      findings({
        ...all,
        [`${lib}/locks/backends/redis/lua/_line.lua`]: "local function line() return 1 end\n",
        [`${lib}/locks/mutex.lua`]: "return 1\n",
        [`${lib}/${from}`]: `--- @include "${target}"\nreturn line()\n`,
      }).filter((finding) => finding.endsWith("direction"));
    expect(script("inspect/look.lua", "../locks/backends/redis/lua/_line.lua")).toEqual([
      "inspect/look.lua:1 direction",
    ]);
    expect(script("locks/backends/redis/lua/look.lua", "_line.lua")).toEqual([]);
  });

  test("a room that nobody planned is named", () => {
    expect(findings(files(["cache/lru.ts", "mutex.ts"]))).toEqual([
      "cache/lru.ts:1 direction",
      "mutex.ts:1 direction",
    ]);
  });
});

describe("direction, between packages", () => {
  test("the library knows no other package, and conformance only the library", () => {
    const folder = {
      [`${lib}/locks/mutex.ts`]: 'import "@holdfast/conformance";\n',
      "packages/conformance/src/a.ts": 'import "holdfast";\n',
    };
    expect(findings(folder)).toEqual(["locks/mutex.ts:1 direction", "locks/mutex.ts:1 undeclared"]);
  });

  test("nothing reaches into a package by path", () => {
    const sale = 'import "../../../packages/holdfast/src/index.js";\nimport "holdfast";\nimport "./b.js";\n';
    expect(findings({ "examples/sale/src/a.ts": sale })).toEqual(["examples/sale/src/a.ts:1 direction"]);
    const suite = 'import "../../holdfast/src/index.ts";\nimport "../src/a.ts";\n';
    expect(findings({ "packages/conformance/test/a.test.ts": suite })).toHaveLength(1);
  });
});

test("cycle: type-only imports close one too", () => {
  const files = {
    [`${lib}/limits/a.ts`]: 'import { b } from "./b.js";\n',
    [`${lib}/limits/b.ts`]: 'import { c } from "./c.js";\n',
    [`${lib}/limits/c.ts`]: '\nimport type { A } from "./a.js";\n',
  };
  expect(findings(files)).toEqual(["limits/c.ts:2 cycle"]);
});

test("undeclared: what ships needs dependencies, a test may use the tools of the root", () => {
  const text =
    'import "node:fs";\nimport "ioredis";\nimport "vitest";\nimport "left-pad/sub";\nawait import("@a/b/c");\n';
  expect(findings({ [`${lib}/redis/port.ts`]: text })).toEqual([
    "redis/port.ts:3 undeclared",
    "redis/port.ts:4 undeclared",
    "redis/port.ts:5 undeclared",
  ]);
  expect(findings({ "packages/holdfast/test/a.test.ts": text })).toEqual([
    "packages/holdfast/test/a.test.ts:4 undeclared",
    "packages/holdfast/test/a.test.ts:5 undeclared",
  ]);
  expect(findings({ "scripts/a.ts": text })).toEqual([
    "scripts/a.ts:2 undeclared",
    "scripts/a.ts:4 undeclared",
    "scripts/a.ts:5 undeclared",
  ]);
});

test("launch: a program that a test starts is known to whoever ends the run", () => {
  const text =
    'import { execFile, spawn as start } from "node:child_process";\nimport { fork } from "child_process";\n';
  const found = ["packages/holdfast/test/a.test.ts:1 launch", "packages/holdfast/test/a.test.ts:2 launch"];
  expect(findings({ "packages/holdfast/test/a.test.ts": text })).toEqual(found);
  expect(findings({ "packages/conformance/src/server-process.ts": text })).toHaveLength(2);
  const others = [
    'import cp from "node:child_process";',
    'import * as cp from "child_process";',
    'import { "spawn" as start } from "node:child_process";',
    'const cp = await import("node:child_process");',
    'const cp = require("node:child_process");',
    'import cluster from "node:cluster";',
  ];
  for (const each of others)
    expect(findings({ "packages/holdfast/test/a.test.ts": each }), each).toEqual([found[0]]);
  expect(findings({ "packages/conformance/src/launched.ts": text, "scripts/a.ts": text })).toEqual([]);
});

test("undeclared: what is bundled is declared for who builds it", () => {
  const cli = { name: "@holdfast/cli", private: true, devDependencies: { commander: "14" } };
  const files = {
    "packages/cli/package.json": JSON.stringify(cli),
    "packages/cli/src/main.ts": 'import "commander";\nimport "vitest";\n',
  };
  expect(findings(files)).toEqual(["packages/cli/src/main.ts:2 undeclared"]);
});

describe("clock", () => {
  test.each([
    "Date.now();",
    "new Date();",
    "Date();",
    "performance.now();",
    "performance['now']();",
    "const { now } = { now: performance.timeOrigin };",
    "setTimeout(run, 1);",
    "const timers = { setTimeout };",
    "globalThis.setInterval(run, 1);",
    "setImmediate(run);",
    "Math.random();",
    "crypto.randomUUID();",
    'import { randomBytes } from "node:crypto";',
    'import nodeCrypto from "node:crypto";\nnodeCrypto.randomInt(3);',
    "AbortSignal.timeout(3);",
    'import { setTimeout as sleep } from "node:timers/promises";',
    "process.hrtime.bigint();",
  ])("bites on %s", (code) => {
    const lines = `${code}\n`;
    expect(findings({ [`${lib}/limits/a.ts`]: lines })).toEqual([
      `limits/a.ts:${code.split("\n").length} clock`,
    ]);
    expect(findings({ [`${lib}/time/a.ts`]: lines })).toEqual([]);
    expect(findings({ "packages/conformance/src/time.ts": lines })).toEqual([]);
    expect(findings({ "examples/sale/src/a.ts": lines })).toEqual([]);
    // Tests have a rule of their own for the clock.
    expect(
      findings({ "packages/holdfast/test/a.ts": lines }).filter((line) => line.endsWith(" clock")),
    ).toEqual([]);
  });

  test.each([
    "new Date(at).toISOString();",
    "clock.setTimeout(run, 1);",
    "clearTimeout(timer);",
    "type Timer = ReturnType<typeof setTimeout>;",
    "interface Timers { setTimeout(run: () => void): void }",
    "const timers = { setTimeout: clock.after };",
    'import { createHash } from "node:crypto";',
    "// Date.now() is wrong here",
    "const text = 'Date.now()';",
  ])("lets %s pass", (code) => {
    expect(findings({ [`${lib}/limits/a.ts`]: `${code}\n` })).toEqual([]);
  });
});

test("published: a package that is not private says what it is, and on which terms", () => {
  const manifest = (fields: object) => ({
    "packages/bare/package.json": JSON.stringify({ name: "bare", ...fields }),
  });
  const missing = (files: Readonly<Record<string, string>>) =>
    tidy(tree({ ...house, ...files })).map(
      ({ rule, message }) => `${rule} ${message.split(" is missing")[0]}`,
    );
  expect(missing(manifest({ keywords: [] }))).toEqual([
    'published "description"',
    'published "license"',
    'published "keywords"',
    "published packages/bare/README.md",
    "published packages/bare/LICENSE",
  ]);
  const texts = { "packages/bare/README.md": "", "packages/bare/LICENSE": "" };
  expect(missing({ ...manifest(published), ...texts })).toEqual([]);
  expect(missing(manifest({ private: true }))).toEqual([]);
});

test("size: 400 lines a file, 60 a function; a test file has no functions to speak of", () => {
  const lines = (count: number) => "// line\n".repeat(count);
  expect(findings({ [`${lib}/limits/a.ts`]: lines(401), [`${lib}/limits/b.ts`]: lines(400) })).toEqual([
    "limits/a.ts:400 size",
  ]);
  const long = `\nclass A {\n  run() {\n${lines(59)}  }\n}\nconst f = () => {\n${lines(58)}};\n`;
  expect(findings({ [`${lib}/limits/a.ts`]: long })).toEqual(["limits/a.ts:3 size"]);
  expect(findings({ "packages/holdfast/test/a.test.ts": long })).toEqual([]);
});

test("size: 3 functions that an object is made with, in the library", () => {
  const made = (count: number) =>
    `new Part(\n  { ${"abcd".slice(1, count).replace(/./g, "$&: () => 1, ")}name: "x", last() {} },\n);\n`;
  expect(findings({ [`${lib}/limits/a.ts`]: made(3) })).toEqual([]);
  expect(findings({ [`${lib}/limits/a.ts`]: made(4) })).toEqual(["limits/a.ts:1 size"]);
  expect(findings({ [`${lib}/limits/a.ts`]: "new Part(a, () => 1, () => 2, () => 3, () => 4);\n" })).toEqual([
    "limits/a.ts:1 size",
  ]);
});

test("size: 60 kB a file that git has, but a lock file and a picture may be large", () => {
  const large = "x".repeat(60_001);
  const files = ["record.json", "package-lock.json", "docs/picture.svg", "docs/page.md", "ignored.json"];
  const folder = tree({
    ...house,
    ...Object.fromEntries(files.map((file) => [file, large])),
    "docs/page.md": large.slice(1),
    ".gitignore": "ignored.json\n",
  });
  expect(tidy(folder)).toEqual([]);
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  execFileSync("git", ["add", "."], { cwd: folder });
  expect(tidy(folder).map(({ file, rule }) => `${file} ${rule}`)).toEqual(["record.json size"]);
});

test("name, export, comment", () => {
  const files = {
    [`${lib}/limits/utils/text.ts`]: "export {};\n",
    [`${lib}/limits/lock-manager.ts`]: "export {};\n",
    [`${lib}/limits/commonality.ts`]: 'export * from "./a.js";\nexport * as a from "./a.js";\n',
    [`${lib}/limits/a.ts`]:
      "// const a = 1;\n// if (a) {\n// A sentence; it ends here.\n/** const a = 1; */\n",
  };
  expect(findings(files)).toEqual([
    "limits/a.ts:1 comment",
    "limits/a.ts:2 comment",
    "limits/commonality.ts:1 export",
    "limits/commonality.ts:2 export",
    "limits/lock-manager.ts:1 name",
    "limits/utils/text.ts:1 name",
  ]);
});

describe("Lua", () => {
  const sections = "\nReturns  1\nRetry    safe\nClock    none\nCost     O(1)\n]]\n";
  const script = (contract: string, body: string) => `--[[\na: does it.\n\n${contract}${sections}${body}`;
  const lua = (text: string, more: Readonly<Record<string, string>> = {}) =>
    findings({ [`${lib}/limits/a.lua`]: text, ...more });
  const contract = "KEYS[1]  lock   {name}\nARGV[1]  ttl_ms integer\n";
  const body = "local lock, ttl_ms = KEYS[1], ARGV[1]\nreturn redis.call('PEXPIRE', lock, ttl_ms)\n";

  test("a contract that matches passes; one that does not exist, or lacks a section, does not", () => {
    expect(lua(script(contract, body))).toEqual([]);
    expect(lua(`-- a\n${body}`)).toEqual(["limits/a.lua:1 lua-header"]);
    expect(lua(script(contract, body).replace("Retry    safe\n", ""))).toEqual(["limits/a.lua:1 lua-header"]);
  });

  test("KEYS and ARGV: named but not read, read but not named, read twice, numbered with a gap", () => {
    expect(lua(script(`${contract}ARGV[2]  owner\n`, body))).toEqual(["limits/a.lua:6 lua-contract"]);
    expect(lua(script("KEYS[1]  lock\n", body))).toEqual(["limits/a.lua:11 lua-contract"]);
    expect(lua(script(contract, `${body}local again = KEYS[1]\n`))).toEqual(["limits/a.lua:14 lua-contract"]);
    expect(lua(script(contract.replace("ARGV[1]", "ARGV[2]"), body.replace("ARGV[1]", "ARGV[2]")))).toEqual([
      "limits/a.lua:5 lua-contract",
    ]);
  });

  test("a loop over KEYS is named as a range, and a range is read", () => {
    const loop = "for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end\n";
    expect(lua(script("KEYS[1..n]  locks\n", loop))).toEqual([]);
    expect(lua(script("KEYS[1]  lock\n", `local lock = KEYS[1]\n${loop}`))).toEqual([
      "limits/a.lua:12 lua-contract",
    ]);
    expect(lua(script("KEYS[1..n]  locks\n", "return 1\n"))).toEqual(["limits/a.lua:4 lua-contract"]);
    expect(lua(script("KEYS[1]  lock\nKEYS[2..n]  rest\n", `local lock = KEYS[1]\n${loop}`))).toEqual([]);
  });

  test("comments and strings are no use of KEYS", () => {
    expect(lua(script(contract, `${body}-- KEYS[3]\nlocal text = 'ARGV[4] KEYS[i]'\n`))).toEqual([]);
  });

  test("a shared file reads with an index it is given, for the script that includes it", () => {
    const shared = { [`${lib}/limits/_keys.lua`]: "local function keys(first) return KEYS[first] end\n" };
    const user = script("KEYS[1..2]  lock, fence\n", '--- @include "_keys.lua"\nreturn keys(1)\n');
    expect(lua(user, shared)).toEqual([]);
    const literal = { [`${lib}/limits/_keys.lua`]: "local lock = KEYS[1]\n" };
    expect(lua(script("", "return 1\n"), literal)).toEqual(["limits/_keys.lua:1 lua-shared"]);
  });

  test("%d is refused as a format, not as a pattern", () => {
    const text = (line: string) => lua(script("", `${line}\n`));
    expect(text("return string.format('%d', 1)")).toEqual(["limits/a.lua:10 lua-format"]);
    expect(text("return ('%05d'):format(1)")).toEqual(["limits/a.lua:10 lua-format"]);
    expect(text("return redis.pcall('PUBLISH', 'c', 'x')")).toEqual(["limits/a.lua:10 lua-message"]);
    expect(text("return string.match('1', '%d+'), string.format('%.0f', 1)")).toEqual([]);
  });

  test("the clock is read once, shared files counted", () => {
    const time = "redis.call('TIME')";
    const shared = { [`${lib}/limits/_clock.lua`]: `local function now() return ${time} end\n` };
    expect(lua(script("", `local now = ${time}\n`))).toEqual([]);
    const twice = script("", `--- @include "_clock.lua"\nlocal then_ = now() - ${time}\n`);
    expect(lua(twice, shared)).toEqual(["limits/a.lua:1 lua-clock"]);
  });
});
