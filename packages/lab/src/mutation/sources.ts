/** Which sources of the library are changed, and what they are. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { luaChanges } from "./lua-changes.js";
import { type Change, type Mutant, mutantsOf } from "./mutant.js";
import { typescriptChanges } from "./typescript-changes.js";

/** Where the library is: its compiled form, and its sources beside. */
const packageFolder = dirname(dirname(fileURLToPath(import.meta.resolve("holdfast"))));
export const sourceFolder = resolve(packageFolder, "src");
export const compiledFolder = resolve(packageFolder, "dist");

const backend = "locks/backends/redis";

/** What decides who holds a lock, and until when. */
export function changedFiles(): string[] {
  const beside = readdirSync(resolve(sourceFolder, backend)).filter(
    (name) => name.endsWith(".lua") || (name.endsWith(".ts") && !name.endsWith(".lua.ts")),
  );
  return [
    ...["deadline", "hold", "keeper", "renewals", "turn"].map((name) => `lease/${name}.ts`),
    ...["local-line", "waiters"].map((name) => `locks/${name}.ts`),
    ...beside.sort().map((name) => `${backend}/${name}`),
    ...["connection", "inbox"].map((name) => `redis/${name}.ts`),
  ];
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
