/**
 * Makes the `holdfast` command: its sources and the packages they need, as few files that start quickly (ADR 0012).
 *
 *   tsx scripts/bundle.ts    writes packages/cli/dist, after `tsc -b`: the library goes in as it was compiled
 *
 * vitest calls `setup` before the first test, so that none meets a command older than its sources.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile, version } from "esbuild";
import type { TestProject } from "vitest/node";
import type { Manifest } from "./tidy/declared.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "packages/cli");
const dist = join(folder, "dist");
const stampFile = join(root, "node_modules/.holdfast/bundled.json");

interface Stamp {
  readonly inputs: readonly string[];
  readonly key: string;
}

declare module "vitest" {
  interface ProvidedContext {
    /** Why the command could not be bundled; empty when it could. Only its own tests mind. */
    bundleFailure: string;
  }
}

export async function setup({ provide }: TestProject): Promise<void> {
  const failure = isFresh() ? "" : await bundle().then(() => "", String);
  provide("bundleFailure", failure);
}

function isFresh(): boolean {
  if (!existsSync(join(dist, "main.js"))) return false;
  try {
    const { inputs, key }: Stamp = JSON.parse(readFileSync(stampFile, "utf8"));
    return keyOf(inputs) === key;
  } catch {
    return false; // Never made, or an input is gone.
  }
}

/** Size and time of each, not its content: it is asked before every run of the tests. */
function keyOf(inputs: readonly string[]): string {
  const files = [...inputs, "packages/cli/package.json", "scripts/bundle.ts"].map((file) => {
    const { size, mtimeMs } = statSync(join(root, file));
    return `${file} ${size} ${mtimeMs}`;
  });
  return createHash("sha256")
    .update([version, ...files].join("\n"))
    .digest("hex");
}

async function bundle(): Promise<void> {
  const manifest: Manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["packages/cli/src/main.ts"],
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
  replace(files);
  const inputs = Object.keys(metafile.inputs);
  mkdirSync(dirname(stampFile), { recursive: true });
  writeFileSync(stampFile, JSON.stringify({ inputs, key: keyOf(inputs) } satisfies Stamp));
}

/** A command may be running from here: what is new comes first, main.js last, and only then goes what is old. */
function replace(files: ReadonlyMap<string, string | Uint8Array>): void {
  mkdirSync(dist, { recursive: true });
  const inOrder = [...files].sort(([a], [b]) => Number(a === "main.js") - Number(b === "main.js"));
  for (const [name, contents] of inOrder) {
    const file = join(dist, name);
    if (existsSync(file) && readFileSync(file).equals(Buffer.from(contents))) continue;
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, contents, { mode: name === "main.js" ? 0o755 : 0o644 });
    renameSync(unfinished, file);
  }
  for (const name of readdirSync(dist)) {
    if (!files.has(name) && name !== ".tsbuildinfo") rmSync(join(dist, name), { recursive: true });
  }
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle();
