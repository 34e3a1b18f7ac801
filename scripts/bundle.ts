/**
 * Makes the code that runs, of every package; the compiler checks, and writes the declarations (ADR 0033).
 *
 *   tsx scripts/bundle.ts                        writes what is older than its sources; after `tsc -b` the declarations too
 *   tsx scripts/bundle.ts examples/flash-sale    only this package, and those that it depends on
 *
 * vitest calls `setup` before the first test, so that no test meets code older than its sources.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { bundleCommand, command } from "./bundle/command.ts";
import { bundleLibrary, libraries } from "./bundle/library.ts";
import { root } from "./bundle/output.ts";
import { compilePlain } from "./bundle/plain.ts";
import { workspaces } from "./files.ts";
import type { Manifest } from "./tidy/declared.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Why the bundles could not be made; empty when they could. Only the tests that run them fail by it. */
    bundleFailure: string;
  }
}

export async function setup({ provide }: TestProject): Promise<void> {
  provide("bundleFailure", await bundle().then(() => "", String));
}

/** What the build makes of a package, by its folder. A package without a tsconfig.json of its own is none of this. */
async function make(folder: string): Promise<void> {
  if (folder === command) return bundleCommand();
  return libraries().includes(folder) ? bundleLibrary(folder) : compilePlain(folder);
}

/** @param wanted folders of packages. @default all */
async function bundle(wanted: readonly string[] = []): Promise<void> {
  const built = workspaces(root).filter((folder) => existsSync(join(root, folder, "tsconfig.json")));
  const folders = wanted.length === 0 ? built : built.filter((folder) => neededBy(wanted, built).has(folder));
  // The command takes the library as it is published.
  await Promise.all(folders.filter((folder) => folder !== command).map(make));
  if (folders.includes(command)) await make(command);
}

/** With the packages of the workspace that they depend on. */
function neededBy(wanted: readonly string[], built: readonly string[]): Set<string> {
  const manifests = new Map(built.map((folder) => [folder, manifestOf(folder)]));
  const found = new Set<string>(wanted);
  for (const folder of found) {
    const names = Object.keys(manifests.get(folder)?.dependencies ?? {});
    for (const [other, { name }] of manifests) if (names.includes(name)) found.add(other);
  }
  return found;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(process.argv.slice(2));
