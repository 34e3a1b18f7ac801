/** Makes the `holdfast` command: its sources and the packages they need, as few files that start quickly (ADR 0012). */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { build, type Metafile } from "esbuild";
import type { Manifest } from "../tidy/declared.ts";
import { type Output, root, write } from "./output.ts";

/** Folder of its package. */
export const command = "packages/cli";
const dist = join(root, command, "dist");

export async function bundleCommand(): Promise<void> {
  await write(command, { main: "main.js", make: made, keep: (file) => file === ".tsbuildinfo" });
}

async function made(): Promise<Output> {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, command, "package.json"), "utf8"));
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [`${command}/src/main.ts`],
    outdir: dist,
    bundle: true,
    // What a command does not need is not read: each `import()` has a file of its own.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    external: installed.flatMap((name) => [name, `${name}/*`]),
    // Stack traces lead into readable code, so there is no map to load.
    minify: false,
    legalComments: "none",
    // What was CommonJS asks for modules of Node by `require`.
    banner: {
      js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
    },
    // What is wrong is told by what it throws.
    logLevel: "silent",
    metafile: true,
    write: false,
  });
  const files = new Map<string, string | Uint8Array>(
    outputFiles.map(({ path, contents }) => [relative(dist, path), contents]),
  );
  files.set("LICENSES.txt", licences(metafile));
  const scripts = ["command", "output"].map((name) => `scripts/bundle/${name}.ts`);
  const settings = [`${command}/package.json`, "node_modules/esbuild/package.json", ...scripts];
  return { files, inputs: [...Object.keys(metafile.inputs), ...settings] };
}

/** The licences of others ask for their text wherever their code goes. */
function licences({ inputs }: Metafile): string {
  const folders = new Set(
    Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  const texts = [...folders].map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
    const names = readdirSync(join(root, path)).filter((file) =>
      /^(licen[cs]e|notice|copying)\b/i.test(file),
    );
    if (names.length === 0) throw new Error(`${path} has no licence text: it cannot go into the bundle`);
    const told = names.map((file) => readFileSync(join(root, path, file), "utf8").trim());
    return `${name} ${version} (${license})\n\n${told.join("\n\n")}\n`;
  });
  return [
    "The holdfast command has code of these packages in it. Their licences follow.\n",
    ...texts.sort(),
  ].join(`\n${"-".repeat(80)}\n\n`);
}
