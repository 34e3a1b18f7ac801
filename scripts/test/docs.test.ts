import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { chosen, gatesOf } from "../check/gates.ts";
import { blocksOf, fileOf, outputDiffers, printsOf, programsOf } from "../docs/blocks.ts";
import { commandsOf, missingIn } from "../docs/commands.ts";
import { pagesOf, runDocs } from "../run-docs.ts";
import { createTable, fenced, pageOf } from "./pages.ts";
import { tree } from "./tree.ts";

const root = resolve(import.meta.dirname, "../..");

describe("blocks", () => {
  test("carry their place, their language and what they say of themselves", () => {
    const page = `# T\n\n${fenced("ts", "a\n")}\ntext\n\n  ${fenced('js name=x no-run="needs a, b"', "  b\n    c\n  ").trim()}\n`;
    expect(blocksOf("p.md", page)).toEqual([
      {
        file: "p.md",
        line: 4,
        language: "ts",
        code: "a\n",
        name: undefined,
        continues: undefined,
        needs: undefined,
        noRun: undefined,
        path: undefined,
        runner: undefined,
      },
      {
        file: "p.md",
        line: 10,
        language: "js",
        code: "b\n  c\n",
        name: "x",
        continues: undefined,
        needs: undefined,
        noRun: "needs a, b",
        path: undefined,
        runner: undefined,
      },
    ]);
  });

  test("that go on from others run once, as one program, at the lines of the page", () => {
    const page = [
      fenced("ts name=s", "one\n"),
      fenced("ts", "two\n"),
      fenced("ts continues=s", "three\n"),
    ].join("");
    const programs = programsOf(blocksOf("p.md", page));
    expect(programs.map(({ blocks }) => blocks.map(({ code }) => code))).toEqual([
      ["two\n"],
      ["one\n", "three\n"],
    ]);
    const [, last] = programs;
    expect(last && fileOf(last).split("\n").slice(0, 8)).toEqual(["", "one", "", "", "", "", "", "three"]);
    expect(() => programsOf(blocksOf("p.md", fenced("ts continues=none", "")))).toThrow("p.md:2");
  });

  test("promise their output line by line, with … for what changes", () => {
    const [program] = programsOf(
      blocksOf("p.md", fenced("ts", "f() // prints: a … (c)\ng() // prints: d\n")),
    );
    const promised = program ? printsOf(program) : [];
    expect(promised).toEqual(["a … (c)", "d"]);
    expect(outputDiffers(promised, "a 12 (c)\nd\n")).toBeUndefined();
    expect(outputDiffers(promised, "a 12 (c)\n")).toContain("printed:\n  a 12 (c)");
    expect(outputDiffers(promised, "a 12 c\nd\n")).toBeDefined();
    expect(outputDiffers([], "whatever")).toBeUndefined();
  });
});

test("the pages are those of the root, of each package and its modules, and of docs/", () => {
  const folder = tree({
    "README.md": "",
    "NOTES.md": "",
    "docs/guides/a.md": "",
    "docs/a.svg": "",
    "packages/p/package.json": "{}",
    "packages/p/README.md": "",
    "packages/p/src/module/README.md": "",
    "packages/p/src/module/OTHER-README.md": "",
    "packages/p/test/README.md": "",
    "packages/p/node_modules/q/src/README.md": "",
    "packages/none/src/README.md": "",
  });
  expect(pagesOf(folder)).toEqual([
    "README.md",
    "packages/p/README.md",
    "packages/p/src/module/README.md",
    "docs/guides/a.md",
  ]);
});

describe("commands", () => {
  const house = {
    scripts: { test: "", check: "" },
    exists: (path: string) => path === ".ci/run",
    gates: ["tidy", "attw packages/a"],
    tests: new Map([["packages/a/test/keeper.test.ts", 'test("in one batch", …)']]),
  };
  const missing = (page: string) =>
    commandsOf("p.md", page).flatMap((command) => {
      const what = missingIn(command, house);
      return what === undefined ? [] : [`${command.place} ${what}`];
    });

  test("of shell blocks and of the text name scripts and files that exist", () => {
    const shell = fenced(
      "sh",
      "npm install\nnpm run gone\n$ npm test # -- x\nnode scripts/gone.mjs\nbash .ci/run\n",
    );
    const text = "`npm run gone`, or `bash .ci/run`; | `npx tsx scripts/gone.ts` |\n";
    expect(missing(`${shell}${text}${fenced("text", "npm run gone\n`npm run gone`\n")}`)).toEqual([
      'p.md:3 no script "gone" in package.json',
      "p.md:5 no file scripts/gone.mjs",
      'p.md:8 no script "gone" in package.json',
      "p.md:8 no file scripts/gone.ts",
    ]);
  });

  test.each([
    "npm test",
    "npm test -- keeper",
    "npm test -- packages/a --bail=1",
    'npm test -- keeper -t "one batch"',
    "npm test -- -t 'one batch'",
    "npx vitest keeper",
    "npx vitest run",
    "npm run check -- tidy attw --json",
    "npm run --silent check -- --json",
  ])("%s chooses something", (command) => {
    expect(missing(`\`${command}\``)).toEqual([]);
    expect(missing(fenced("sh", `${command}\n`))).toEqual([]);
  });

  test.each([
    ["npm test -- mutex", 'no test file has "mutex" in its path'],
    ["npm test -- keeper mutex", 'no test file has "mutex" in its path'],
    ['npm test -- -t "hands over"', 'no test has "hands over" in its title'],
    ["npx vitest mutex", 'no test file has "mutex" in its path'],
    ["npx vitest run mutex", 'no test file has "mutex" in its path'],
    ["npm run check -- nosuch", 'no gate "nosuch" in npm run check'],
  ])("%s chooses nothing", (command, reason) => {
    expect(missing(`\`${command}\``)).toEqual([`p.md:1 ${reason}`]);
    expect(missing(fenced("sh", `${command}\n`))).toEqual([`p.md:2 ${reason}`]);
  });
});

test("CONTRIBUTING.md lists every gate", () => {
  const page = readFileSync(join(root, "CONTRIBUTING.md"), "utf8");
  const names = new Set(gatesOf(root).map(({ name }) => name.split(" ")[0] ?? ""));
  expect([...names].filter((name) => !page.includes(`| \`${name}\` `))).toEqual([]);
});

test("gates are chosen by a part of their name, with the build that they need", () => {
  const names = (...words: string[]) => chosen(gatesOf(root), words).gates.map(({ name }) => name);
  expect(names("tidy", "lock")).toEqual(["tidy", "lock"]);
  expect(names("docs")).toEqual(["build", "docs"]);
  expect(names("attw packages/embedded")).toEqual(["build", "attw packages/embedded"]);
  expect(names()).toHaveLength(gatesOf(root).length);
  expect(chosen(gatesOf(root), ["tidy", "nosuch", "--jsn"]).unknown).toEqual(["nosuch", "--jsn"]);
});

test("a page is run: output, types, crashes and reasons are checked, against an empty server", async () => {
  const client = 'import { Redis } from "ioredis";\nconst redis = new Redis("redis://localhost:6379");\n';
  const count = `${client}console.log(await redis.incr("n"));\nredis.disconnect();\n// prints: 1\n`;
  const blocks = [
    fenced("ts", count),
    fenced("js", count),
    fenced("ts", 'const n: number = "1";\n'),
    fenced("ts", 'throw new Error("boom");\n'),
    fenced("ts", 'console.log("b"); // prints: a\n'),
    fenced("ts no-run", ""),
    fenced('ts no-run="needs PostgreSQL"', "import pg from 'pg';\n"),
  ];
  const page = pageOf(...blocks);
  const { outcomes, notRun } = await runDocs(root, [page]);
  const byPlace = Object.fromEntries(outcomes.map(({ place, failure }) => [place.split(":")[1], failure]));
  expect(Object.keys(byPlace)).toEqual(["2", "9", "16", "19", "22", "25"]);
  expect([byPlace["2"], byPlace["9"]]).toEqual([undefined, undefined]);
  expect(byPlace["16"]).toContain("line 16: error TS2322");
  expect(byPlace["19"]).toMatch(/boom[\s\S]*page\.md:19/);
  expect(byPlace["22"]).toBe("promised:\n  a\nprinted:\n  b");
  expect(byPlace["25"]).toContain("needs a reason");
  expect(notRun).toContain(`${page}:27 needs PostgreSQL`);
});

test("a page has files beside its programs, and tests that a runner runs", async () => {
  const runner = 'import { expect, test } from "vitest";\n';
  const half = 'import { half } from "./half.mjs";\n';
  const folder = tree({
    "right.md": [
      fenced("ts file=half.mts", "export const half = (n: number): number => n / 2;\n"),
      fenced("ts", `${half}console.log(half(4)); // prints: 2\n`),
      fenced(
        "ts file=half.test.mts test=vitest",
        `${runner}${half}test("t", () => expect(half(2)).toBe(1));\n`,
      ),
      fenced("js file=odd.test.mjs test=vitest", `${runner}test("t", () => expect(1).toBe(2));\n`),
    ].join(""),
    "wrong.md": [
      fenced("ts file=wrong.mts", 'export const n: number = "";\n'),
      fenced("ts", 'console.log("a");\n'),
    ].join(""),
  });
  const failuresOf = async (page: string) =>
    (await runDocs(root, [relative(root, join(folder, page))])).outcomes.map(({ failure }) => failure);
  const [ran, passed, failed] = await failuresOf("right.md");
  expect([ran, passed]).toEqual([undefined, undefined]);
  expect(failed).toContain("exit code 1");
  expect(await failuresOf("wrong.md")).toEqual([expect.stringContaining("TS2322")]);
});

describe("a page with a database", () => {
  test("is compiled and left out where there is none, and fails with CI set", async () => {
    const page = pageOf(
      fenced("ts needs=postgres", createTable),
      fenced("ts needs=postgres", 'const n: number = "";\n'),
    );
    vi.stubEnv("HOLDFAST_POSTGRES", "");
    vi.stubEnv("CI", "");
    const local = await runDocs(root, [page]);
    expect(local.notRun).toEqual([`${page}:2 needs postgres (apt-get install postgresql)`]);
    expect(local.outcomes.map(({ failure }) => failure)).toEqual([expect.stringContaining("TS2322")]);
    vi.stubEnv("CI", "true");
    const ci = await runDocs(root, [page]);
    expect(ci.outcomes.map(({ failure }) => failure)).toContain(
      "needs postgres (apt-get install postgresql)",
    );
  });

  test("that nobody knows is a mistake of the page", async () => {
    const page = pageOf(fenced("ts needs=oracle", ""));
    await expect(runDocs(root, [page])).rejects.toThrow("use postgres or mariadb");
  });
});
