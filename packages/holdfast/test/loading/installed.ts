/** The folder of a program in which the library is installed as npm would: the packed files, and beside them only the packages that a test names. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

export const run = promisify(execFile);

const library = resolve(import.meta.dirname, "../..");
export const modules = resolve(library, "../../node_modules");

let packed: Promise<readonly string[]> | undefined;

/** @param others names of packages of this repository's installation */
export async function installed(others: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-loading-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  packed ??= filesOf();
  const place = (name: string): string => join(folder, "node_modules", name);
  for (const file of await packed) await cp(join(library, file), join(place("holdfast"), file));
  for (const name of others) {
    await mkdir(dirname(place(name)), { recursive: true });
    await symlink(join(modules, name), place(name), "junction");
  }
  return folder;
}

async function filesOf(): Promise<readonly string[]> {
  const options = { cwd: library, shell: process.platform === "win32" };
  const { stdout } = await run("npm", ["pack", "--dry-run", "--json"], options);
  const [{ files }] = JSON.parse(stdout) as [{ files: readonly { readonly path: string }[] }];
  return files.map(({ path }) => path);
}
