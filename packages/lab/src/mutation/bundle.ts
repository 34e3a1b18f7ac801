/**
 * The library with one file changed, as one module in a temporary folder; nothing in the working tree is touched.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, posix, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { readSource, sourceFolder } from "./sources.js";

const include = /^--- @include "([^"]+)"[ \t]*$/gm;

type Texts = ReadonlyMap<string, string>;

export class Bundles {
  readonly #folder = mkdtempSync(resolve(tmpdir(), "holdfast-mutation-"));
  #count = 0;

  /**
   * @param texts of the files that are changed, by their path below the sources
   * @param entry what the module exports
   * @returns the path of the module
   */
  async make(texts: Texts, entry = "index.ts"): Promise<string> {
    this.#count += 1;
    const outfile = resolve(this.#folder, `${this.#count}.mjs`);
    await build({
      entryPoints: [resolve(sourceFolder, entry)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "es2022",
      packages: "external",
      logLevel: "silent",
      plugins: [changed(texts)],
    });
    return outfile;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The text of a module, by its path below the sources: a changed Lua file changes every script that includes it. */
export function moduleText(name: string, texts: Texts): string {
  const read = (file: string): string => texts.get(file) ?? readSource(file);
  const isLua = [...texts.keys()].some((file) => file.endsWith(".lua"));
  return isLua && name.endsWith(".lua.ts") ? scriptModule(name.replace(/\.ts$/, ""), read) : read(name);
}

function changed(texts: Texts): Plugin {
  return {
    name: "changed",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, importer }) => {
        if (importer === "") return undefined;
        const file = resolve(dirname(importer), path.replace(/\.js$/, ".ts"));
        return existsSync(file) ? { path: file } : undefined;
      });
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const name = relative(sourceFolder, path).replaceAll("\\", "/");
        return { contents: moduleText(name, texts), loader: "ts" };
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
