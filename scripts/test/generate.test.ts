import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pinFile, pins, stale, unpinned } from "../generate.ts";
import { pieces, readScript, strip } from "../lua.ts";
import { tree } from "./tree.ts";

describe("strip", () => {
  test("takes comments, blank lines, the blanks around lines and beside signs", () => {
    const lua =
      "--[[ header\nKEYS[1] x\n]]\nlocal a = 1 -- one\n\n  --[==[ ]] ]==]\nif a then --x\n  return a\nend";
    expect(strip(lua)).toBe("local a=1\nif a then\nreturn a\nend\n");
  });

  test("keeps the mark of a guard, which is at the end of its line", () => {
    const lua = "-- why\nif a < b then a = b end -- guard: a rises\nreturn a\n";
    expect(strip(lua)).toBe("if a<b then a=b end -- guard: a rises\nreturn a\n");
  });

  test("keeps two names apart where a comment stood between them", () => {
    expect(strip("return--[[x]]a")).toBe("return a\n");
  });

  test.each([
    [`return "-- not a comment"`],
    [`return '--[[ nor this ]]'`],
    [`return "a\\"--b"`],
    [`return [[ -- kept\n\n  and its blank line ]]`],
    [`return [=[ ]] -- kept  \n]=]`],
    [`return t[i] - -1`],
    [`return t[ [[key]] ]`],
    [`return "line\\\n  goes on -- here"`],
  ])("leaves %j alone", (lua) => {
    expect(strip(lua)).toBe(`${lua}\n`);
  });

  test("never alters a string, whatever stands around it", () => {
    const text = fc.string({ unit: fc.constantFrom("-", "[", "]", "=", '"', "'", "\\", "\n", " ", "a") });
    const short = fc.tuple(fc.constantFrom('"', "'"), text).map(([quote, body]) => {
      const safe = body.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll(quote, `\\${quote}`);
      return quote + safe + quote;
    });
    const long = fc.tuple(fc.nat(3), text).map(([level, body]) => {
      const equals = "=".repeat(level);
      return `[${equals}[${body.replaceAll("]", ")")}]${equals}]`;
    });
    const comment = text.map((body) => `--${body.replaceAll("\n", "").replaceAll("[", "(")}\n`);
    const block = text.map((body) => `--[[${body.replaceAll("]", ")")}]]`);
    const code = fc.constantFrom("local a = ", "x = t[1] ", "\n\n", "  \n", " - ", "f(");
    const program = fc.array(fc.oneof(short, long, comment, block, code), { maxLength: 12 });
    fc.assert(
      fc.property(program, (parts) => {
        const lua = parts.join("");
        const strings = (source: string) => pieces(source).filter(({ kind }) => kind === "string");
        expect(
          pieces(lua)
            .map((piece) => piece.text)
            .join(""),
        ).toBe(lua);
        expect(strings(strip(lua)).map(({ text }) => text)).toEqual(strings(lua).map(({ text }) => text));
        expect(pieces(strip(lua)).some(({ kind }) => kind === "comment")).toBe(false);
        expect(strip(strip(lua))).toBe(strip(lua));
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe("include", () => {
  const files = {
    "packages/p/src/a.lua": '--- @include "_one.lua"\n--- @include "deep/_two.lua"\nreturn one() + two()\n',
    "packages/p/src/_one.lua": "-- shared\nlocal function one() return 1 end\n",
    "packages/p/src/deep/_two.lua": '--- @include "../_one.lua"\nlocal function two() return one() end\n',
  };

  test("puts the body in place, each file once", () => {
    const folder = tree(files);
    expect(strip(readScript(join(folder, "packages/p/src/a.lua")))).toBe(
      "local function one()return 1 end\nlocal function two()return one()end\nreturn one()+two()\n",
    );
  });

  test("what a block brings is not known outside of it, so that a second include there is refused", () => {
    const inBlocks = (above: string, ...names: string[]): string =>
      `${above}${names.map((name) => `do\n  --- @include "${name}"\n  two()\nend\n`).join("")}`;
    const read = (text: string) =>
      readScript(join(tree({ ...files, "packages/p/src/a.lua": text }), "packages/p/src/a.lua"));
    expect(() => read(inBlocks("", "_one.lua", "deep/_two.lua"))).toThrow(/_one\.lua is included in a block/);
    expect(() => read(`${inBlocks("", "deep/_two.lua")}--- @include "_one.lua"\n`)).toThrow(/_one\.lua/);
    expect(read(inBlocks('--- @include "_one.lua"\n', "_one.lua", "deep/_two.lua"))).toContain("two()");
    const once = read('do\n  --- @include "_one.lua"\n  --- @include "deep/_two.lua"\n  two()\nend\n');
    expect(once).toContain("function one");
  });

  test("brings no function that the script does not call, and neighbours that the same scripts call as one text", () => {
    const shared = ["a", "b", "c", "d"].map(
      (name) => `-- ${name}\nlocal function ${name}() return '${name}' end -- to the end\n`,
    );
    shared[1] = "local function b() -- to the end\n  return 'b'\nend\n";
    const calling = (...names: string[]) =>
      `--- @include "_all.lua"\nreturn ${names.map((name) => `${name}()`)}\n`;
    const folder = tree({
      "packages/p/package.json": "{}",
      "packages/p/src/_all.lua": shared.join("\n"),
      "packages/p/src/one.lua": calling("a", "c", "d"),
      "packages/p/src/other.lua": calling("b"),
    });
    const [all = "", one = "", other = ""] = stale(folder).map(({ text }) => text);
    expect(all.match(/export const/g)).toHaveLength(3);
    expect([one.match(/^import/gm)?.length, other.match(/^import/gm)?.length]).toEqual([2, 1]);
    expect(strip(readScript(join(folder, "packages/p/src/other.lua")))).toBe(
      "local function b()\nreturn 'b'\nend\nreturn b()\n",
    );
  });

  test("a missing one is named", () => {
    const folder = tree({ ...files, "packages/p/package.json": "{}" });
    rmSync(join(folder, "packages/p/src/_one.lua"));
    expect(() => stale(folder)).toThrow(/a\.lua: cannot include .*_one\.lua/);
  });
});

describe("rights", () => {
  const helpers = [
    "local function drop(key) redis.call('DEL', key) end",
    "local function move(key)",
    "  redis.call(key and 'RPOP' or 'LPOP', key) -- not redis.call('XADD')",
    "  drop(key)",
    "end",
    "local function other(key) redis.call('SET', key, 'PX') end",
  ].join("\n");
  const read = (script: string): string =>
    readScript(
      join(
        tree({ "packages/p/src/_helpers.lua": helpers, "packages/p/src/a.lua": script }),
        "packages/p/src/a.lua",
      ),
    );

  test("of each command that can come after the place, in functions as well, and of no other", () => {
    const script = `--- @include "_helpers.lua"\nredis.call('GET', KEYS[1])\n--- @rights KEYS[1]\nredis.pcall('HSET', 'NX')\nmove(KEYS[1])\n`;
    expect(read(script)).toContain("need(KEYS[1], 'DEL', 'HSET', 'LPOP', 'RPOP')\n");
  });

  test("of the rest of the block, where the place is in one", () => {
    const script = `--- @include "_helpers.lua"\nif a then\n  --- @rights key\n  drop(key)\nend\nmove(key)\n`;
    expect(read(script)).toContain("  need(key, 'DEL')\n");
  });

  test("of none: a place that nothing comes after is a mistake", () => {
    expect(() => read("--- @rights key\nreturn 1\n")).toThrow(/nothing comes after "--- @rights key"/);
  });
});

describe("the modules", () => {
  /** Writes what is stale below a folder of its own, and loads the module of one script. */
  async function scriptOf(path: string, files: Record<string, string>): Promise<unknown> {
    const folder = tree({ "packages/p/package.json": '{ "type": "module" }', ...files });
    for (const { file, text = "" } of stale(folder)) writeFileSync(file, text);
    expect(stale(folder)).toEqual([]);
    const { script } = await import(join(folder, `packages/p/src/${path}.lua.ts`));
    return script;
  }

  function sent(name: string, source: string) {
    return { name, source, sha1: createHash("sha1").update(source).digest("hex") };
  }

  test("carry the source as sent and the SHA-1 that EVALSHA needs", async () => {
    const lua = `return "\`\${x}\` \\\\ \\n é"\n`;
    expect(await scriptOf("room/s", { "packages/p/src/room/s.lua": lua })).toEqual(sent("room/s", lua));
  });

  test("join what is shared, around the includes of their own and of others", async () => {
    const script = await scriptOf("room/s", {
      "packages/p/src/room/s.lua":
        'local first = 1\n--- @include "_shared.lua"\n--- @include "../_base.lua"\nreturn first\n',
      "packages/p/src/room/_shared.lua":
        '-- What is above the include.\nlocal above = 1\n--- @include "../_base.lua"\nlocal below = base\n',
      "packages/p/src/_base.lua": "local base = 2\n",
      "packages/p/src/_empty.lua": "-- nothing yet\n",
    });
    const source = "local first=1\nlocal above=1\nlocal base=2\nlocal below=base\nreturn first\n";
    expect(script).toEqual(sent("room/s", source));
  });

  test("say of a script whether a copy of its call has another answer, as its contract does", async () => {
    const lua = "--[[\nRetry    tells of its own run: a copy finds nothing\n]]\nreturn 1\n";
    const script = await scriptOf("s", { "packages/p/src/s.lua": lua });
    expect(script).toEqual({ ...sent("s", "return 1\n"), tellsOwnRun: true });
  });

  test("a script without code is an empty text", async () => {
    expect(await scriptOf("s", { "packages/p/src/s.lua": "-- nothing\n" })).toEqual(sent("s", ""));
  });

  test("go when their script goes", () => {
    const folder = tree({ "packages/p/package.json": "{}", "packages/p/src/a.lua.ts": "" });
    const file = join(folder, "packages/p/src/a.lua.ts");
    expect(stale(folder)).toEqual([{ file, text: undefined }]);
  });

  test("do not depend on the line ends of the checkout", () => {
    const folder = tree({ "a.lua": "return 1\n-- x\nreturn 2\n" });
    writeFileSync(
      join(folder, "b.lua"),
      readFileSync(join(folder, "a.lua"), "utf8").replaceAll("\n", "\r\n"),
    );
    expect(readScript(join(folder, "b.lua"))).toBe(readScript(join(folder, "a.lua")));
  });
});

test("a script that is changed, new, or gone is not as it was pinned", () => {
  const src = "packages/p/src";
  const lua = (name: string, text: string) => ({ [`${src}/${name}.lua`]: text });
  const before = tree({
    "packages/p/package.json": "{}",
    ...lua("same", "return 1\n"),
    ...lua("changed", '--- @include "_shared.lua"\nreturn a\n'),
    ...lua("_shared", "local a = 1\n"),
    ...lua("gone", "return 3\n"),
  });
  const after = tree({
    "packages/p/package.json": "{}",
    [pinFile]: pins(before),
    ...lua("same", "-- said in other words\nreturn 1\n"),
    ...lua("changed", '--- @include "_shared.lua"\nreturn a\n'),
    ...lua("_shared", "local a = 2\n"),
    ...lua("fresh", "return 4\n"),
  });
  expect(unpinned(after)).toEqual([`${src}/changed.lua`, `${src}/fresh.lua`, `${src}/gone.lua`]);
  writeFileSync(join(after, pinFile), pins(after));
  expect(unpinned(after)).toEqual([]);
});
