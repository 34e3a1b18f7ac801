/**
 * Writes `NAME.lua.ts` beside every `NAME.lua` of the packages, so that what ships needs no file loader.
 *
 *   tsx scripts/generate.ts            writes what is stale, removes what lost its script
 *   tsx scripts/generate.ts --pin      writes scripts.sha1 as well
 *   tsx scripts/generate.ts --check    writes nothing; exit code 1 and a list when something is stale, or tracked by git
 *
 * A Lua file whose name begins with `_` is shared: its module has its text, and those of scripts join it to their own.
 * `scripts.sha1` is the one thing of this that is committed: a change of what servers are sent shows in a review.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow, trackedFiles, workspaces } from "./files.ts";
import { type Part, partsOf, readText, strip } from "./lua.ts";

/** The SHA-1 of each script as it is sent, which is its name on a server. */
export const pinFile = "scripts.sha1";

export interface Stale {
  /** Path of what is generated. */
  readonly file: string;
  /** What it has to say; undefined when it must go. */
  readonly text: string | undefined;
}

interface Script {
  /** Path relative to the root. */
  readonly file: string;
  readonly sha1: string;
}

/** What a script's module says of it. */
interface Head {
  /** The path below `src`, without the ending: unique within a package. */
  readonly name: string;
  readonly sha1: string;
  readonly tellsOwnRun: boolean;
}

/** How the contract of a script says that an answer of a second run is none to the call. */
const tellsOwnRun = /^Retry +tells of its own run/m;

/** By the key of a part: what its text is called, once in a package and short, for a bundle has hundreds of uses. */
type Names = Map<string, string>;

interface Generated {
  readonly modules: readonly Stale[];
  readonly scripts: readonly Script[];
}

/** What each Lua file below `root` says now. */
function generated(root: string): Generated {
  const modules: Stale[] = [];
  const scripts: Script[] = [];
  for (const workspace of workspaces(root, ["packages"])) {
    const src = join(root, workspace, "src");
    const files = filesBelow(src);
    const lua = files.filter((path) => path.endsWith(".lua"));
    const shared = lua.filter((path) => basename(path).startsWith("_"));
    const written = new Map(lua.map((path) => [path, strippedPartsOf(join(src, path))]));
    const sent = [...written].filter(([path]) => !shared.includes(path));
    const users = usersOf(sent.map(([, parts]) => parts));
    const leaders = new Map<string, Part>();
    const names: Names = new Map();
    for (const path of shared) {
      const file = join(src, path);
      const own = (written.get(path) ?? []).filter((part) => part.file === file && users.has(keyOf(part)));
      const kept = led(own, users, leaders);
      for (const part of kept) names.set(keyOf(part), `L${names.size.toString(36)}`);
      modules.push({ file: `${file}.ts`, text: sharedModule(file, kept, names) });
    }
    for (const [path, parts] of sent) {
      const file = join(src, path);
      const sha1 = sha1Of(parts);
      scripts.push({ file: `${workspace}/src/${path}`, sha1 });
      const head = { name: path.replace(/\.lua$/, ""), sha1, tellsOwnRun: tellsOwnRun.test(readText(file)) };
      modules.push({ file: `${file}.ts`, text: scriptModule(file, head, joined(parts, leaders), names) });
    }
    for (const path of files) {
      const orphan = path.endsWith(".lua.ts") && !lua.includes(path.replace(/\.ts$/, ""));
      if (orphan) modules.push({ file: join(src, path), text: undefined });
    }
  }
  return { modules, scripts };
}

function strippedPartsOf(file: string): Part[] {
  return partsOf(file)
    .map((part) => ({ ...part, text: strip(part.text) }))
    .filter(({ text }) => text !== "");
}

function keyOf({ file, index }: Part): string {
  return `${index} ${file}`;
}

/** By the key of a part: the scripts that send it. */
function usersOf(scripts: readonly (readonly Part[])[]): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const [place, parts] of scripts.entries())
    for (const part of parts) users.set(keyOf(part), `${users.get(keyOf(part)) ?? ""} ${place}`);
  return users;
}

/**
 * The parts of a shared file, of which neighbours that the same scripts send are one, with the place of the first.
 * @param leaders gets that one for each of them
 */
function led(own: readonly Part[], users: ReadonlyMap<string, string>, leaders: Map<string, Part>): Part[] {
  const found: Part[] = [];
  let last: Part | undefined;
  for (const part of own) {
    const isAlike = last?.includes === part.includes && users.get(keyOf(last)) === users.get(keyOf(part));
    const leader = (isAlike && leaders.get(keyOf(last as Part))) || part;
    if (leader === part) found.push(part);
    else found[found.length - 1] = { ...leader, text: (found.at(-1) as Part).text + part.text };
    leaders.set(keyOf(part), leader);
    last = part;
  }
  return found;
}

/** The parts of a script, with one in place of each group. */
function joined(parts: readonly Part[], leaders: ReadonlyMap<string, Part>): Part[] {
  const found: Part[] = [];
  for (const part of parts) {
    const leader = leaders.get(keyOf(part)) ?? part;
    if (found.at(-1) !== leader) found.push(leader);
  }
  return found;
}

function sha1Of(parts: readonly Part[]): string {
  const hash = createHash("sha1");
  for (const { text } of parts) hash.update(text);
  return hash.digest("hex");
}

/** The text of a shared file, once in every bundle however many scripts include it. */
function sharedModule(file: string, parts: readonly Part[], names: Names): string {
  return [
    headOf(file),
    ...parts.map((part) => `export const ${names.get(keyOf(part))}: string = ${literalOf(part.text)};`),
    ...(parts.length === 0 ? ["export {};"] : []),
    "",
  ].join("\n");
}

function scriptModule(file: string, head: Head, parts: readonly Part[], names: Names): string {
  const imports = parts.flatMap((part) => {
    const path = relative(dirname(file), part.file).replaceAll("\\", "/");
    const from = `${path.startsWith(".") ? "" : "./"}${path}.js`;
    return part.file === file ? [] : [`import { ${names.get(keyOf(part))} } from "${from}";`];
  });
  const texts = parts.map((part) => (part.file === file ? literalOf(part.text) : names.get(keyOf(part))));
  return [
    headOf(file),
    ...imports,
    "export const script: { readonly name: string; readonly source: string; readonly sha1: string; readonly tellsOwnRun?: boolean } = {",
    `  name: ${JSON.stringify(head.name)},`,
    `  sha1: "${head.sha1}",`,
    ...(head.tellsOwnRun ? ["  tellsOwnRun: true,"] : []),
    `  source: ${texts.join(" + ") || '""'},`,
    "};",
    "",
  ].join("\n");
}

function headOf(file: string): string {
  return `// Generated from ${basename(file)} by scripts/generate.ts; do not edit.`;
}

/** A text as JavaScript. */
function literalOf(text: string): string {
  return `\`${text.replace(/[\\`]|\$\{/g, (found) => `\\${found}`)}\``;
}

/** Every generated module below `root` that differs from what its script says now. */
export function stale(root: string): Stale[] {
  return generated(root).modules.filter(({ file, text }) => current(file) !== text);
}

/** The scripts whose pinned SHA-1 is not what is sent now, or that have none; and pins of scripts that are gone. */
export function unpinned(root: string): string[] {
  const pinned = (current(join(root, pinFile)) ?? "").split("\n");
  const wanted = pins(root).split("\n");
  const differ = [
    ...pinned.filter((line) => !wanted.includes(line)),
    ...wanted.filter((line) => !pinned.includes(line)),
  ];
  return [...new Set(differ.map((line) => line.replace(/^\S+ +/, "")))].sort();
}

/** In the format of sha1sum. */
export function pins(root: string): string {
  const { scripts } = generated(root);
  return scripts.map(({ file, sha1 }) => `${sha1}  ${file}\n`).join("");
}

function current(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").replaceAll("\r\n", "\n");
  } catch {
    return undefined;
  }
}

/** Writes beside and renames, so that a compiler that runs at the same time never reads half a file. */
function write({ file, text }: Stale): void {
  if (text === undefined) {
    rmSync(file, { force: true });
    return;
  }
  const half = `${file}.${process.pid}`;
  writeFileSync(half, text);
  renameSync(half, file);
}

/** What a commit must not have. */
function check(root: string): string[] {
  return [
    ...stale(root).map(({ file }) => `${relative(root, file)} is stale: npm run build`),
    ...trackedFiles(root, "*.lua.ts").map((file) => `${file} is tracked: git rm --cached ${file}`),
    ...unpinned(root).map((file) => `${file} is not as ${pinFile} has it: npm run build -- --pin`),
  ];
}

function main(): void {
  const root = resolve(import.meta.dirname, "..");
  if (process.argv.includes("--check")) {
    const findings = check(root);
    for (const line of findings) console.log(line);
    if (findings.length > 0) process.exitCode = 1;
    return;
  }
  for (const change of stale(root)) write(change);
  if (process.argv.includes("--pin")) write({ file: join(root, pinFile), text: pins(root) });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
