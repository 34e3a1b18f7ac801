/** The files that a bundler made, and when they have to be made again. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");
const stamps = join(root, "node_modules/.holdfast");

export interface Output {
  /** By their path below `dist`. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  /** Every file that was read, relative to the root. */
  readonly inputs: readonly string[];
}

interface Recipe {
  /** The file that starts everything. */
  readonly main: string;
  readonly make: () => Promise<Output>;
  /** Whether a file below `dist` stays that `make` did not return. */
  readonly keep: (file: string) => boolean;
  /** Where they are known beforehand. @default what was read the last time */
  readonly inputs?: readonly string[];
}

interface Stamp {
  readonly inputs: readonly string[];
  readonly key: string;
}

/**
 * Writes what `make` returns into `dist` of a package, unless nothing that it reads has changed since. The file that
 * starts everything is written last, because a program may be running from here.
 */
export async function write(folder: string, { main, make, keep, inputs: known }: Recipe): Promise<void> {
  const stampFile = join(stamps, `bundled-${folder.replaceAll("/", "-")}.json`);
  if (existsSync(join(root, folder, "dist", main)) && isFresh(stampFile, known)) return;
  const { files, inputs } = await make();
  replace(join(root, folder, "dist"), files, main, keep);
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stampFile, JSON.stringify({ inputs, key: keyOf(inputs) } satisfies Stamp));
}

function isFresh(stampFile: string, known?: readonly string[]): boolean {
  try {
    const { inputs, key }: Stamp = JSON.parse(readFileSync(stampFile, "utf8"));
    return keyOf(known ?? inputs) === key;
  } catch {
    return false; // There is no stamp yet.
  }
}

/** Sizes and times instead of contents, because this runs before every test run. A file that is not there is one that may come. */
function keyOf(inputs: readonly string[]): string {
  const files = inputs.map((file) => {
    const found = statSync(join(root, file), { throwIfNoEntry: false });
    return `${file} ${found?.size} ${found?.mtimeMs}`;
  });
  return createHash("sha256").update(files.join("\n")).digest("hex");
}

function replace(
  dist: string,
  files: ReadonlyMap<string, string | Uint8Array>,
  main: string,
  keep: (file: string) => boolean,
): void {
  const inOrder = [...files].sort(([a], [b]) => Number(a === main) - Number(b === main));
  for (const [name, contents] of inOrder) {
    const file = join(dist, name);
    if (existsSync(file) && readFileSync(file).equals(Buffer.from(contents))) continue;
    mkdirSync(dirname(file), { recursive: true });
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, contents, { mode: contents.toString().startsWith("#!") ? 0o755 : 0o644 });
    renameSync(unfinished, file);
  }
  removeOthers(dist, "", (file) => files.has(file) || keep(file));
}

/** Removes the files that an earlier run made and this one did not, and the folders that are then empty. */
function removeOthers(folder: string, prefix: string, keep: (file: string) => boolean): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) {
      removeOthers(path, `${name}/`, keep);
      if (readdirSync(path).length === 0) rmdirSync(path);
    } else if (!keep(name)) rmSync(path);
  }
}
