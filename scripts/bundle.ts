/**
 * Makes the code that is published as few files: the packages that are both imported and required, and the `holdfast`
 * command (ADR 0012, ADR 0013).
 *
 *   tsx scripts/bundle.ts    writes what is older than its sources, after `tsc -b`, which writes the declarations
 *
 * vitest calls `setup` before the first test, so that no test meets code older than its sources.
 */
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { bundleCommand } from "./bundle/command.ts";
import { bundleLibrary, libraries } from "./bundle/library.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Why the bundles could not be made; empty when they could. Only the tests that run them fail by it. */
    bundleFailure: string;
  }
}

export async function setup({ provide }: TestProject): Promise<void> {
  provide("bundleFailure", await bundle().then(() => "", String));
}

async function bundle(): Promise<void> {
  await Promise.all(libraries().map(bundleLibrary));
  // The command takes the library as it is published.
  await bundleCommand();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
