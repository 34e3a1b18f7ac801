/** Node's module loader calls this hook for each import: that of holdfast then finds the library of another clone. */
import type { ResolveHook } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

let parentURL = "";

export function initialize(folder: string): void {
  parentURL = pathToFileURL(join(folder, "package.json")).href;
}

export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier, /^holdfast(\/|$)/.test(specifier) ? { ...context, parentURL } : context);
