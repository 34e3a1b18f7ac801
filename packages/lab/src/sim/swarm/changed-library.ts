/** The library with one of its files changed, made in a temporary folder: nothing in the working tree is touched. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { RunOptions } from "./run.js";
import type { SourceChange } from "./workload.js";

/** In the workspace the installed library has its sources beside it. */
const sourceFolder = fileURLToPath(new URL("../src/", import.meta.resolve("holdfast")));
const include = /^[ \t]*--- @include "([^"]+)"[ \t]*$/gm;

type Library = Required<Pick<RunOptions, "holdfast" | "redlock">>;

/** @throws {RangeError} the file has no such text */
export async function changedLibrary({ file, from, to }: SourceChange): Promise<Library> {
  const source = readSource(file);
  if (!source.includes(from)) throw new RangeError(`${file} has no text "${from}"`);
  const read = (path: string): string => (path === file ? source.replace(from, () => to) : readSource(path));
  // The name is known to vitest.config.ts.
  const folder = mkdtempSync(join(tmpdir(), "holdfast-canary-"));
  try {
    await build({
      entryPoints: ["index.ts", "redlock.ts"].map((entry) => resolve(sourceFolder, entry)),
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      format: "esm",
      platform: "node",
      target: "es2022",
      packages: "external",
      logLevel: "silent",
      plugins: [sources(read, file.endsWith(".lua"))],
    });
    const load = async (entry: string): Promise<unknown> =>
      import(/* @vite-ignore */ pathToFileURL(join(folder, entry)).href);
    const { Holdfast: holdfast } = (await load("index.mjs")) as { Holdfast: Library["holdfast"] };
    const { Redlock: redlock } = (await load("redlock.mjs")) as { Redlock: Library["redlock"] };
    return { holdfast, redlock };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether the library has the text that is to be replaced. */
export function hasSource({ file, from }: SourceChange): boolean {
  return existsSync(resolve(sourceFolder, file)) && readSource(file).includes(from);
}

function readSource(file: string): string {
  return readFileSync(resolve(sourceFolder, file), "utf8").replaceAll("\r\n", "\n");
}

/** A changed Lua file changes every script that includes it. */
function sources(read: (file: string) => string, isLua: boolean): Plugin {
  return {
    name: "sources",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, importer }) => {
        if (importer === "") return undefined;
        const file = resolve(dirname(importer), path.replace(/\.js$/, ".ts"));
        return existsSync(file) ? { path: file } : undefined;
      });
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = relative(sourceFolder, path).replaceAll("\\", "/");
        const isScript = isLua && name.endsWith(".lua.ts");
        return {
          contents: isScript ? scriptModule(name.replace(/\.ts$/, ""), read) : read(name),
          loader: "ts",
        };
      });
    },
  };
}

/** As the generator makes it, comments and all. */
function scriptModule(file: string, read: (file: string) => string): string {
  const seen = new Set<string>();
  const expand = (name: string): string => {
    if (seen.has(name)) return "";
    seen.add(name);
    return read(name).replace(include, (_, path: string) => expand(posix.join(dirname(name), path)));
  };
  const source = expand(file);
  const sha1 = createHash("sha1").update(source).digest("hex");
  return `export const script = ${JSON.stringify({ name: file.replace(/\.lua$/, ""), source, sha1 })};`;
}
