/** A program of its own compiles against the declarations, whatever its target brings along. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");

const PROGRAM = `
import { Holdfast, type Lease } from "holdfast";
import { type LockBackend, Locks } from "holdfast/locks";

export async function work(backend: LockBackend): Promise<Lease> {
  const hf = new Holdfast("redis://127.0.0.1:1");
  await hf.close();
  return new Locks(backend).mutex("name").acquire();
}
`;

test("target es2022 needs neither a later lib nor the types of Node.js, in both formats", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-target-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  const files = ["program.mts", "program.cts"];
  for (const file of files) await writeFile(join(folder, file), PROGRAM);
  const compilerOptions = { module: "nodenext", strict: true, target: "es2022", noEmit: true, types: [] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiled = promisify(execFile)(
    process.execPath,
    [join(root, "node_modules/typescript/bin/tsc"), "-p", folder],
    { cwd: folder },
  );
  expect(await compiled.catch(({ stdout }: { stdout: string }) => stdout)).toMatchObject({ stdout: "" });
});
