/**
 * Loaded with --import: this process then finds the library of another clone, whose folder the environment names. Node loads this module a second
 * time for its hooks, in a thread of their own.
 */
import { type ResolveHook, register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";
import { AGAINST } from "./task.js";

let parentURL = "";
if (isMainThread) register(import.meta.url, { data: process.env[AGAINST] });

export function initialize(folder: string): void {
  parentURL = pathToFileURL(join(folder, "package.json")).href;
}

export const resolve: ResolveHook = (specifier, context, next) =>
  next(specifier, /^holdfast(\/|$)/.test(specifier) ? { ...context, parentURL } : context);
