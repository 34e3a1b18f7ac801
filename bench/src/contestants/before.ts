/**
 * The library of another clone, in the same rounds: `--against FOLDER`. Each contestant that is holdfast has a twin, which differs from it in
 * nothing but where its process finds the library.
 */
import { existsSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";

/** "before" is the twin of "holdfast", "before-update" that of "holdfast-update". */
export type BeforeName = "before" | `before-${string}`;

/** The folder of the other clone, for the processes of a run. */
const variable = "HOLDFAST_BENCH_AGAINST";

export function isBefore(name: string): name is BeforeName {
  return name === "before" || name.startsWith("before-");
}

export function beforeOf(name: string): BeforeName {
  return name.replace("holdfast", "before") as BeforeName;
}

/** The name of the twin that loads the library of this clone. */
export function nowOf(name: BeforeName): string {
  return name.replace("before", "holdfast");
}

/** Whether its library can be loaded as it is. */
export function isBuiltClone(folder: string): boolean {
  return (
    existsSync(join(folder, "packages/holdfast/dist/index.js")) &&
    existsSync(join(folder, "node_modules/holdfast"))
  );
}

/** Before any process of a contestant starts. */
export function setAgainst(folder: string): void {
  process.env[variable] = folder;
}

/** The folder of the other clone. @throws {Error} there is none in this run */
export function againstFolder(): string {
  const folder = process.env[variable];
  if (!folder) throw new Error("a contestant of before needs --against");
  return folder;
}

/** From now on this process finds the library of the other clone. */
export function loadBefore(): void {
  register(new URL("./before-library.js", import.meta.url), { data: againstFolder() });
}
