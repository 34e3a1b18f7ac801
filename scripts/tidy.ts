/**
 * The house rules as a program: `tsx scripts/tidy.ts [root]`.
 *
 *   --lower   lowers the numbers of scripts/tidy/test-clocks.json to the uses that are left; it raises and adds none
 *
 * Each finding is one line, `file:line rule message`; any finding is exit code 1. There is no switch to turn a rule
 * off in a place: change the code, or change the rule here for all.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow, trackedFiles, workspaces } from "./files.ts";
import { includes, readText } from "./lua.ts";
import { checkClocks } from "./tidy/clocks.ts";
import { checkCycles } from "./tidy/cycles.ts";
import { checkDeclared, type Manifest } from "./tidy/declared.ts";
import { checkPackages, checkRooms } from "./tidy/directions.ts";
import { checkLaunches } from "./tidy/launches.ts";
import { checkLua } from "./tidy/lua-contract.ts";
import { checkComments, checkExports, checkPath } from "./tidy/names.ts";
import { checkPublished } from "./tidy/published.ts";
import { checkFileSize, checkFileWeight, checkFunctionSize, checkHandedFunctions } from "./tidy/size.ts";
import { type Finding, parse, type Source } from "./tidy/source.ts";
import { checkTestClocks, lowered, testClocksFile } from "./tidy/test-clocks.ts";

const library = "packages/holdfast/src";

export function tidy(root: string): Finding[] {
  const house = workspaces(root);
  const files = filesOf(root, house);
  const written = files.filter(isWritten);
  const sources = sourcesOf(root, written);
  const manifests = new Map(house.map((folder) => [folder, manifest(root, folder)]));
  const names = [...manifests.values()].map(({ name }) => name);
  const top = manifest(root, "");
  const findings = [
    ...written.flatMap(checkPath),
    ...written.filter((file) => file.endsWith(".lua")).flatMap((file) => checkScript(root, file)),
    ...sources.flatMap(checkSource),
    ...checkCycles(sources),
    ...trackedFiles(root).flatMap((file) => checkFileWeight(file, bytesOf(root, file))),
    ...checkTestClocks(sources, testClocks(root)),
    ...sources
      .filter(({ file }) => file.startsWith("scripts/"))
      .flatMap((source) => checkDeclared(source, "scripts", manifest(root, "scripts"), top)),
  ];
  const known = new Set(files);
  for (const [folder, own] of manifests) {
    findings.push(...checkPublished(folder, own, known));
    for (const source of sources.filter(({ file }) => file.startsWith(`${folder}/`))) {
      findings.push(
        ...checkPackages(source, folder, own.name, names),
        ...checkDeclared(source, folder, own, top),
      );
    }
  }
  for (const source of sources.filter(({ file }) => file.startsWith(`${library}/`))) {
    findings.push(...checkRooms(source, library, known));
  }
  for (const file of written.filter((path) => path.startsWith(`${library}/`) && path.endsWith(".lua"))) {
    const imports = includes(readText(join(root, file)));
    findings.push(...checkRooms({ file, imports }, library, known));
  }
  return findings.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
}

/** Writes the list of uses that tests still have of the machine's clock and chance, with lower numbers only. */
export function lower(root: string): void {
  const sources = sourcesOf(root, filesOf(root, workspaces(root)).filter(isWritten));
  writeFileSync(join(root, testClocksFile), lowered(sources, testClocks(root)));
}

function filesOf(root: string, house: readonly string[]): string[] {
  return [...house, "scripts"].flatMap((folder) => filesBelow(join(root, folder), `${folder}/`));
}

/** A `.lua.ts` is made by a program, and no rule is for it. */
function isWritten(file: string): boolean {
  return !file.endsWith(".lua.ts");
}

function sourcesOf(root: string, files: readonly string[]): Source[] {
  return files.filter((file) => /\.[cm]?[jt]s$/.test(file)).map((file) => read(root, file));
}

/** Of a file that git still tracks and that is gone: none. */
function bytesOf(root: string, file: string): number {
  return statSync(join(root, file), { throwIfNoEntry: false })?.size ?? 0;
}

function testClocks(root: string): string {
  const path = join(root, testClocksFile);
  return existsSync(path) ? readFileSync(path, "utf8") : "{}\n";
}

function checkSource(source: Source): Finding[] {
  const isTest = /(^|\/)test\//.test(source.file);
  const ships = /^packages\/[^/]+\/src\//.test(source.file);
  const isDoor = /\/time(\/|\.ts$)/.test(source.file);
  return [
    ...checkFileSize(source.file, source.text),
    ...checkExports(source),
    ...checkComments(source),
    ...checkLaunches(source),
    // A test file reads as one story in `describe`; its file size is limit enough.
    ...(isTest ? [] : checkFunctionSize(source)),
    ...(source.file.startsWith(`${library}/`) ? checkHandedFunctions(source) : []),
    ...(ships && !isDoor ? checkClocks(source) : []),
  ];
}

function checkScript(root: string, file: string): Finding[] {
  const path = join(root, file);
  const text = readText(path);
  return [...checkFileSize(file, text), ...checkLua(file, path, text)];
}

function read(root: string, file: string): Source {
  return parse(file, readFileSync(join(root, file), "utf8"));
}

function manifest(root: string, folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}

function main(): void {
  const words = process.argv.slice(2);
  const root = resolve(words.find((word) => word !== "--lower") ?? join(import.meta.dirname, ".."));
  if (words.includes("--lower")) lower(root);
  const findings = tidy(root);
  for (const { file, line, rule, message } of findings) console.log(`${file}:${line} ${rule} ${message}`);
  if (findings.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
