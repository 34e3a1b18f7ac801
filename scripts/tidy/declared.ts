/** A workspace installs every package at the top, so an import can work here and break for who installs the package. */
import { isBuiltin } from "node:module";
import { packageOf } from "./directions.ts";
import type { Finding, Source } from "./source.ts";

type Dependencies = Readonly<Record<string, string>>;

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly license?: string;
  readonly keywords?: readonly string[];
  readonly dependencies?: Dependencies;
  readonly peerDependencies?: Dependencies;
  readonly devDependencies?: Dependencies;
}

/** What these take from others is in what they publish (scripts/bundle.ts): nobody installs it beside them. */
const bundled = new Set(["@holdfast/cli"]);

/** `root` lends its development tools (vitest, fast-check) to tests, never to what ships. */
export function checkDeclared(source: Source, folder: string, manifest: Manifest, root: Manifest): Finding[] {
  const isTest = !source.file.startsWith(`${folder}/src/`);
  const lists = [manifest.dependencies, manifest.peerDependencies];
  if (bundled.has(manifest.name)) lists.push(manifest.devDependencies);
  if (isTest)
    lists.push(manifest.devDependencies, root.dependencies, root.devDependencies, { [manifest.name]: "" });
  return source.imports.flatMap(({ specifier, line }) => {
    if (specifier.startsWith(".") || specifier.startsWith("#") || isBuiltin(specifier)) return [];
    const name = packageOf(specifier);
    if (lists.some((list) => list !== undefined && name in list)) return [];
    const where = isTest ? "dependencies or devDependencies" : "dependencies or peerDependencies";
    const message = `${name} is not in the ${where} of ${folder}/package.json`;
    return [{ file: source.file, line, rule: "undeclared", message }];
  });
}
