/** Makes the code of a package that is used file by file: a JavaScript file for each source. The compiler only checks it. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { build } from "esbuild";
import { filesBelow } from "../files.ts";
import { root, write } from "./output.ts";

/** @param folder of the package, relative to the root */
export async function compilePlain(folder: string): Promise<void> {
  const src = join(root, folder, "src");
  const sources = filesBelow(src).filter((file) => /\.tsx?$/.test(file));
  const settings = [`${folder}/tsconfig.json`, "tsconfig.base.json", "scripts/bundle/plain.ts"];
  const inputs = [...sources.map((file) => `${folder}/src/${file}`), ...settings];
  await write(folder, {
    main: existsSync(join(src, "main.ts")) ? "main.js" : "index.js",
    // A source that nobody imports may be a program.
    inputs,
    make: async () => {
      const outdir = join(root, folder, "dist");
      const { outputFiles } = await build({
        absWorkingDir: join(root, folder),
        entryPoints: sources.map((file) => join(src, file)),
        outbase: src,
        outdir,
        format: "esm",
        target: "node20.19",
        logLevel: "silent",
        write: false,
      });
      return {
        files: new Map(outputFiles.map(({ path, contents }) => [relative(outdir, path), contents])),
        inputs,
      };
    },
    // The compiler writes declarations here, and vite the modules of pages.
    keep: (file) => /\.d\.ts(\.map)?$|^\.tsbuildinfo$|^static\//.test(file),
  });
}
