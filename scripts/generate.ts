/**
 * Writes `NAME.lua.ts` beside every `NAME.lua` of the packages, so that what ships needs no file loader.
 *
 *   tsx scripts/generate.ts            writes what is stale, removes what lost its script
 *   tsx scripts/generate.ts --check    writes nothing; exit code 1 and a list when something is stale
 *
 * A Lua file whose name begins with `_` is shared: it is included by scripts and gets no module of its own.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { filesBelow, workspaces } from "./files.ts";
import { readScript, strip } from "./lua.ts";

export interface Stale {
  /** Path of the generated module. */
  readonly file: string;
  /** What it has to say; undefined when it must go. */
  readonly text: string | undefined;
}

/** The module for one script. `name` is the path below `src`, without the ending: unique within a package. */
export function moduleFor(name: string, lua: string): string {
  const source = strip(lua);
  const sha1 = createHash("sha1").update(source).digest("hex");
  return [
    `// Generated from ${basename(name)}.lua by scripts/generate.ts; do not edit.`,
    "export const script: { readonly name: string; readonly source: string; readonly sha1: string } = {",
    `  name: ${JSON.stringify(name)},`,
    `  sha1: "${sha1}",`,
    `  source: ${literalOf(source)},`,
    "};",
    "",
  ].join("\n");
}

/** A text as JavaScript. */
export function literalOf(text: string): string {
  return `\`${text.replace(/[\\`]|\$\{/g, (found) => `\\${found}`)}\``;
}

/** Every generated module below `root` that differs from what its script says now. */
export function stale(root: string): Stale[] {
  const found: Stale[] = [];
  for (const workspace of workspaces(root, ["packages"])) {
    const src = join(root, workspace, "src");
    const files = filesBelow(src);
    const scripts = files.filter((path) => path.endsWith(".lua") && !basename(path).startsWith("_"));
    for (const path of scripts) {
      const file = join(src, `${path}.ts`);
      const text = moduleFor(path.replace(/\.lua$/, ""), readScript(join(src, path)));
      if (current(file) !== text) found.push({ file, text });
    }
    for (const path of files) {
      const orphan = path.endsWith(".lua.ts") && !scripts.includes(path.replace(/\.ts$/, ""));
      if (orphan) found.push({ file: join(src, path), text: undefined });
    }
  }
  return found;
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

function main(): void {
  const root = resolve(import.meta.dirname, "..");
  const check = process.argv.includes("--check");
  const changes = stale(root);
  for (const change of changes) {
    const verb = change.text === undefined ? "remove" : "write";
    console.log(`${check ? "stale" : verb} ${relative(root, change.file)}`);
    if (!check) write(change);
  }
  if (check && changes.length > 0) {
    console.error("Generated files are stale: npx tsx scripts/generate.ts");
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
