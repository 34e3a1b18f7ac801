/** The package as it is published: what it does not declare must be in it. */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Program } from "./program.js";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

/** The files that npm would publish, in a folder of their own. */
function published(without = ""): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: PACKAGE, encoding: "utf8" });
  const [{ files }] = JSON.parse(packed) as [{ files: readonly { readonly path: string }[] }];
  for (const { path } of files) {
    if (path !== without) cpSync(join(PACKAGE, path), join(folder, path), { recursive: true });
  }
  return folder;
}

/** The file that npm links as `holdfast`. */
function command(folder: string): string {
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, bin.holdfast);
}

test("a command needs nothing that is not in the package, the engine apart", async () => {
  const program = command(published());
  const away = { HOLDFAST_REDIS: "redis://127.0.0.1:1" };
  for (const args of [
    ["lock", "x", "--", "true"],
    ["ls"],
    ["release", "x", "--force", "--yes"],
    ["doctor"],
  ]) {
    const { exitCode, stdout, stderr } = await new Program(args, away, [program]).ended();
    expect({ exitCode, stderr }).toEqual({ exitCode: 69, stderr: expect.stringContaining("no Redis at") });
    // The finding of the doctor comes first.
    expect(stdout).toMatch(args[0] === "doctor" ? /^error unreachable\n {2}no Redis at / : /^$/);
  }
  const engine = await new Program(["embedded"], {}, [program]).ended();
  expect(engine.stderr).toContain("Cannot find package '@holdfast/embedded'");
});

test("npm can link the command of a clone before it is compiled, and run then it says what to do", async () => {
  const { bin } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  expect(
    execFileSync("git", ["ls-files", "--stage", bin.holdfast], { cwd: PACKAGE, encoding: "utf8" }),
  ).toMatch(/^100755 /);
  const { exitCode, stdout, stderr } = await new Program(["ls"], {}, [
    command(published("dist/main.js")),
  ]).ended();
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 69,
    stdout: "",
    stderr: expect.stringMatching(/^holdfast: .*npm run build.*\n$/),
  });
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
