/**
 * Programs of the originals' users under the compiler, with the originals' types and with ours: the name of the import is all that
 * differs. What they do at run time is not looked at here.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../../..");
const PROGRAMS = join(import.meta.dirname, "programs");
const OURS: Readonly<Record<string, string>> = {
  redlock: "redlock",
  redlock4: "redlock-4",
  "redis-semaphore": "redis-semaphore",
  "rate-limiter-flexible": "rate-limiter-flexible",
};
const SETTINGS = {
  compilerOptions: {
    ...{
      target: "es2023",
      lib: ["es2023"],
      module: "nodenext",
      types: ["node"],
      allowJs: true,
      checkJs: true,
    },
    ...{ strict: true, noEmit: true, skipLibCheck: true },
    // Its package has types, and an `exports` that hides them.
    paths: { redlock: ["./node_modules/redlock/dist/index.d.ts"] },
  },
  include: ["original/*", "ours/*"],
};

test("each program compiles with the original's import and with ours, nothing else changed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-programs-"));
  try {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(SETTINGS));
    for (const kind of ["original", "ours"]) await mkdir(join(folder, kind));
    const used = new Set<string>();
    for (const name of await readdir(PROGRAMS)) {
      const program = await readFile(join(PROGRAMS, name), "utf8");
      const changed = program.replace(/(?<=from |require\()"(.+)"/g, (text, from: string) => {
        if (OURS[from]) used.add(from);
        return OURS[from] ? `"@holdfast/compat/${OURS[from]}"` : text;
      });
      await writeFile(join(folder, "original", name), program);
      await writeFile(join(folder, "ours", name), changed);
    }
    expect([...used].sort()).toEqual(Object.keys(OURS).sort());
    expect(await compiled(folder)).toBe("");
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** What the compiler says. */
async function compiled(folder: string): Promise<string> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    return (await promisify(execFile)(process.execPath, [compiler, "-p", folder])).stdout;
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}
