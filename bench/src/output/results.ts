/** The dated results: the JSON for programs and the page for people, side by side. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { RunResult } from "../result.js";
import { pageOf } from "./page.js";

/** @returns the two paths */
export function saveResult(folder: string, run: RunResult): string[] {
  const path = resolve(folder);
  mkdirSync(path, { recursive: true });
  // "2026-11-21T10-15-42": a run of some questions does not overwrite a run of others.
  const stem = join(path, run.at.slice(0, 19).replaceAll(":", "-"));
  const files = [
    { path: `${stem}.json`, text: `${JSON.stringify(run, null, 1)}\n` },
    { path: `${stem}.html`, text: pageOf(run) },
  ];
  for (const file of files) writeFileSync(file.path, file.text);
  return files.map((file) => file.path);
}
