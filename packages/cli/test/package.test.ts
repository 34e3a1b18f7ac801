/** The package as it is published: what it does not declare must be in it. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Program } from "./program.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

test("a command needs nothing that is not in the package, the engine apart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "dist"));
  cpSync(join(PACKAGE, "package.json"), join(folder, "package.json"));
  cpSync(join(PACKAGE, "dist"), join(folder, "dist"), { recursive: true });
  const away = { HOLDFAST_REDIS: "redis://127.0.0.1:1" };
  for (const args of [
    ["lock", "x", "--", "true"],
    ["ls"],
    ["release", "x", "--force", "--yes"],
    ["doctor"],
  ]) {
    const { exitCode, stderr } = await new Program(args, away, [join(folder, "dist/main.js")]).ended();
    expect({ exitCode, stderr }).toEqual({ exitCode: 69, stderr: expect.stringContaining("no Redis at") });
  }
  const engine = await new Program(["embedded"], {}, [join(folder, "dist/main.js")]).ended();
  expect(engine.stderr).toContain("Cannot find package '@holdfast/embedded'");
});

test("the licence of each package that is in it goes with it", () => {
  const code = readdirSync(join(PACKAGE, "dist"))
    .filter((name) => name.endsWith(".js"))
    .map((name) => readFileSync(join(PACKAGE, "dist", name), "utf8"))
    .join("\n");
  const inside = [...code.matchAll(/^\s*\/\/ .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm)].map(
    ([, name]) => name,
  );
  const told = readFileSync(join(PACKAGE, "dist/LICENSES.txt"), "utf8");
  const named = [...told.matchAll(/^(\S+) \d+\.\d+\.\d+ \(\S+\)$/gm)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(inside));
  expect(named).toContain("ioredis");
});
