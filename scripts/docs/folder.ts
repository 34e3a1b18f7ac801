/** The folder in which the programs of the documentation are compiled and run, each in one of its own. */
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { addressed, fileOf, type Program } from "./blocks.ts";

/** Outside of node_modules/, where test runners see no tests; the packages of the workspace resolve by the link. */
export function openFolder(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-docs-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Writes a program into a folder of its own, with the files of its page. @returns its path */
export function writeProgram(folder: string, program: Program): string {
  const { file, line, language, path, runner } = program.last;
  const ending = language.startsWith("j") ? "mjs" : "mts";
  const own = `${file.replaceAll(/[/.]/g, "-")}-${line}`;
  const name = runner === undefined ? `${own}.${ending}` : (path ?? `${own}.test.${ending}`);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  write(join(folder, own, name), fileOf(program));
  for (const { path = "", code } of program.files) {
    // For the compiler, and as it is for what reads the source: a bundler, a test runner.
    for (const at of [folder, join(folder, "out")]) write(join(at, own, path), addressed(code));
  }
  if (runner !== undefined) write(join(folder, "out", own, name), fileOf(program));
  return join(own, name);
}

/** What of it the compiler takes: a file that is no TypeScript is there as it is. */
export function compiledOf({ last, files }: Program, file: string): string[] {
  const beside = files.map(({ path = "" }) => join(dirname(file), path));
  const own = last.runner === undefined || isTypeScript(file) ? [file] : [];
  return [...own, ...beside.filter(isTypeScript)];
}

function isTypeScript(path: string): boolean {
  return /\.[mc]?ts$/.test(path);
}
