/** A project that has `paths` of its own does not inherit those of the library, and would compile against an older one. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const folders = ["bench", ...["packages", "examples"].flatMap((kind) => namesIn(kind))];

function namesIn(kind: string): string[] {
  return readdirSync(join(root, kind)).map((name) => join(kind, name));
}

/** The places of what `paths` names, by name. */
function pathsOf(file: string): Record<string, string[]> {
  const text = readFileSync(file, "utf8").replaceAll(/^\s*\/\/.*$/gm, "");
  const paths: Record<string, string[]> = JSON.parse(text).compilerOptions?.paths ?? {};
  const absolute = (places: string[]) => places.map((place) => resolve(dirname(file), place));
  return Object.fromEntries(Object.entries(paths).map(([name, places]) => [name, absolute(places)]));
}

test.each(folders)("%s compiles against the library as it is now", (folder) => {
  const paths = pathsOf(join(root, folder, "tsconfig.json"));
  if (Object.keys(paths).length > 0) expect(paths).toMatchObject(pathsOf(join(root, "tsconfig.base.json")));
});
