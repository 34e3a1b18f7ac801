import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { luaChanges } from "../../src/mutation/lua-changes.ts";
import { mutantsOf } from "../../src/mutation/mutant.ts";
import { allMutants, sourceFolder } from "../../src/mutation/sources.ts";
import { typescriptChanges } from "../../src/mutation/typescript-changes.ts";
import { sample } from "./sample.ts";

describe("mutants", () => {
  it("are made of the conditions, limits and sums of a TypeScript source", () => {
    const source =
      "if (a.leftMs <= limitMs && b) endMs = sentMs + 1;\nfor (const x of y) z(x === 1 ? 2 : 3);\n";
    const keys = mutantsOf("f.ts", source, typescriptChanges("f.ts", source)).map(({ key }) => key);
    expect(keys).toEqual([
      "f.ts: a.leftMs <= limitMs && b → !(a.leftMs <= limitMs && b)",
      "f.ts: a.leftMs <= limitMs && b → true",
      "f.ts: a.leftMs <= limitMs && b → false",
      "f.ts: a.leftMs <= limitMs && b → (a.leftMs <= limitMs)",
      "f.ts: a.leftMs <= limitMs && b → (b)",
      "f.ts: a.leftMs <= limitMs → a.leftMs < limitMs",
      "f.ts: sentMs + 1 → sentMs - 1",
      "f.ts: x === 1 → !(x === 1)",
      "f.ts: x === 1 → true",
      "f.ts: x === 1 → false",
    ]);
  });

  it("are made of those of a Lua source", () => {
    const source = "if held and now < top then return math.max(top + 1, now) end\n";
    const keys = mutantsOf("f.lua", source, luaChanges(source)).map(({ key }) => key);
    expect(keys).toEqual([
      "f.lua: held and now < top → not (held and now < top)",
      "f.lua: held and now < top → true",
      "f.lua: held and now < top → false",
      "f.lua: held and now < top → (held)",
      "f.lua: held and now < top → (now < top)",
      "f.lua: now < top → now <= top",
      "f.lua: max → min",
      "f.lua: top + 1 → top - 1",
    ]);
  });

  it("are excused by a comment before the line, for the changes that it names", () => {
    const source = [
      "// mutation: cost (always, negated), because nothing is asked twice,",
      "// and the answer is the same",
      "if (a) b();",
      "if (c) d();",
      "// mutation: people, because it is an event",
      "if (e) f();",
    ].join("\n");
    const mutants = mutantsOf("f.ts", source, typescriptChanges("f.ts", source));
    const excused = mutants.map(({ key, excuse }) => [key, excuse?.kind, excuse?.why]);
    const why = "nothing is asked twice, and the answer is the same";
    expect(excused).toEqual([
      ["f.ts: a → !(a)", "cost", why],
      ["f.ts: a → true", "cost", why],
      ["f.ts: a → false", undefined, undefined],
      ["f.ts: c → !(c)", undefined, undefined],
      ["f.ts: c → true", undefined, undefined],
      ["f.ts: c → false", undefined, undefined],
      ["f.ts: e → !(e)", "people", "it is an event"],
      ["f.ts: e → true", "people", "it is an event"],
      ["f.ts: e → false", "people", "it is an event"],
    ]);
    const lua = "-- mutation: equivalent (never), because it is free already\nif a then b() end\n";
    const [, always, never] = mutantsOf("f.lua", lua, luaChanges(lua));
    expect([always?.excuse, never?.excuse?.kind]).toEqual([undefined, "equivalent"]);
    expect(() => mutantsOf("f.ts", "// mutation: hardly\nif (a) b();", [])).toThrow(/f.ts:1: not an excuse/);
  });

  it("of the sample are still made", () => {
    const made = new Set(allMutants().map(({ before, after }) => `${before} → ${after}`));
    expect(sample.filter((change) => !made.has(change))).toEqual([]);
  });

  // A campaign runs the workload of the mutex over one server, which sends no script of permits, of a quorum, or of several locks.
  it("are made of every script that the library sends for a mutex over one server", () => {
    const folder = resolve(sourceFolder, "locks");
    const scripts = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".lua") && !/(?:look|force-release|_clock)\.lua$/.test(name))
      .filter((name) => !/permits|redlock|several/.test(name))
      .map((name) => `locks/${name.replaceAll("\\", "/")}`);
    const changed = new Set(allMutants(".lua").map(({ file }) => file));
    expect(scripts.length).toBeGreaterThan(5);
    expect(scripts.filter((file) => !changed.has(file))).toEqual([]);
  });
});
