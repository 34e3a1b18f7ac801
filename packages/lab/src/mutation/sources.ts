/** Which sources of the library are changed, and what they are. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { luaChanges } from "./lua-changes.js";
import { type Change, type Mutant, mutantsOf, type Operator } from "./mutant.js";
import { typescriptChanges } from "./typescript-changes.js";

/** The folder of the installed library, which in the workspace has its sources. */
const packageFolder = dirname(dirname(fileURLToPath(import.meta.resolve("holdfast"))));
export const sourceFolder = resolve(packageFolder, "src");

const backend = "locks/backends/redis";

/**
 * Checks of options, which unit tests try one by one; what only the inspector sends, which the simulator does not run; and semaphores and
 * read-write locks, because a campaign runs the workload of the mutex.
 */
const unchanged = [
  "locks/mutex.ts",
  "locks/lock-options.ts",
  "locks/inspection.ts",
  "locks/permit-inspection.ts",
  "locks/permits.ts",
  "locks/semaphore.ts",
  "locks/rw-lock.ts",
  `${backend}/inspection.ts`,
  `${backend}/lua/force-release.lua`,
  `${backend}/lua/look.lua`,
];

/** What decides who holds a lock, and until when. */
export function changedFiles(): string[] {
  return ["lease", "locks", backend, `${backend}/lua`, "redis"]
    .flatMap(sourcesIn)
    .filter((file) => !unchanged.includes(file));
}

/** Without generated modules, and without folders inside. */
function sourcesIn(folder: string): string[] {
  return readdirSync(resolve(sourceFolder, folder))
    .filter((name) => name.endsWith(".lua") || (name.endsWith(".ts") && !name.endsWith(".lua.ts")))
    .sort()
    .map((name) => `${folder}/${name}`);
}

export function readSource(file: string): string {
  return readFileSync(resolve(sourceFolder, file), "utf8").replaceAll("\r\n", "\n");
}

export function changesOf(file: string, source: string): Change[] {
  return file.endsWith(".lua") ? luaChanges(source) : typescriptChanges(file, source);
}

/** Every mutant of every file whose path contains `only`. */
export function allMutants(only = ""): Mutant[] {
  return changedFiles()
    .filter((file) => file.includes(only))
    .flatMap((file) => {
      const source = readSource(file);
      return mutantsOf(file, source, changesOf(file, source));
    });
}

const guardOperators: readonly Operator[] = ["negated", "always", "never"];

/**
 * A guard that is gone, or the other way round, in a script, in the code of leases, or in the line inside a process; and a
 * deadline that is another one.
 */
export function isGuard({ file, operator }: Pick<Mutant, "file" | "operator">): boolean {
  if (operator === "later") return true;
  if (file === "lease/deadline.ts") return true;
  const isCore = file.endsWith(".lua") || file.startsWith("lease/") || /^locks\/[^/]+$/.test(file);
  return isCore && guardOperators.includes(operator);
}
