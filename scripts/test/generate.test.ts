import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { moduleFor, stale } from "../generate.ts";
import { pieces, readScript, strip } from "../lua.ts";
import { tree } from "./tree.ts";

const root = resolve(import.meta.dirname, "../..");
test("every committed module says what its script says now", () => {
  expect(stale(root).map(({ file }) => file)).toEqual([]);
});

describe("strip", () => {
  test("takes comments, blank lines and trailing blanks", () => {
    const lua =
      "--[[ header\nKEYS[1] x\n]]\nlocal a = 1 -- one\n\n  --[==[ ]] ]==]\nif a then --x\n  return a\nend";
    expect(strip(lua)).toBe("local a = 1\nif a then\n  return a\nend\n");
  });

  test("keeps the mark of a guard, which is at the end of its line", () => {
    const lua = "-- why\nif a < b then a = b end -- guard: a rises\nreturn a\n";
    expect(strip(lua)).toBe("if a < b then a = b end -- guard: a rises\nreturn a\n");
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
      "local function one() return 1 end\nlocal function two() return one() end\nreturn one() + two()\n",
    );
  });

  test("shared files get no module, and a missing one is named", () => {
    const folder = tree({ ...files, "packages/p/package.json": "{}" });
    expect(stale(folder).map(({ file }) => file)).toEqual([join(folder, "packages/p/src/a.lua.ts")]);
    rmSync(join(folder, "packages/p/src/_one.lua"));
    expect(() => stale(folder)).toThrow(/a\.lua: cannot include .*_one\.lua/);
  });
});

describe("the module", () => {
  test("carries the source as sent and the SHA-1 that EVALSHA needs", async () => {
    const lua = `return "\`\${x}\` \\\\ \\n é"\n`;
    const folder = tree({ "s.lua.mts": moduleFor("room/s", lua) });
    const { script } = await import(join(folder, "s.lua.mts"));
    expect(script).toEqual({
      name: "room/s",
      source: lua,
      sha1: createHash("sha1").update(lua).digest("hex"),
    });
  });

  test("goes when its script goes", () => {
    const folder = tree({ "packages/p/package.json": "{}", "packages/p/src/a.lua.ts": "" });
    const file = join(folder, "packages/p/src/a.lua.ts");
    expect(stale(folder)).toEqual([{ file, text: undefined }]);
  });

  test("does not depend on the line ends of the checkout", () => {
    const folder = tree({ "a.lua": "return 1\n-- x\nreturn 2\n" });
    writeFileSync(
      join(folder, "b.lua"),
      readFileSync(join(folder, "a.lua"), "utf8").replaceAll("\n", "\r\n"),
    );
    expect(readScript(join(folder, "b.lua"))).toBe(readScript(join(folder, "a.lua")));
  });
});
