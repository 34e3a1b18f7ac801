/**
 * Makes the code of a package that is imported and required: for each of the two formats one shared file, a thin file
 * for each entry, and one for each `import()` (ADR 0013). Without the compiler's declarations it makes the code alone.
 */
import { readFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { transform } from "esbuild";
import { type OutputChunk, rolldown } from "rolldown";
import { workspaces } from "../files.ts";
import { declarations, follow } from "./declarations.ts";
import { type Output, root, write } from "./output.ts";

interface Manifest {
  readonly exports?: Readonly<Record<string, unknown>>;
}

type Paths = Readonly<Record<"types" | "default", string>>;

/** What `exports` of package.json says of an entry that is both imported and required. */
interface Entry {
  readonly import: Paths;
  readonly require: Paths;
}

/** The packages whose `exports` have the condition `require`. */
export function libraries(): string[] {
  return workspaces(root, ["packages"]).filter((folder) => entriesOf(folder).length > 0);
}

function entriesOf(folder: string): string[] {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  return Object.values(manifest.exports ?? {})
    .filter(isEntry)
    .map((entry) => entry.import.default.replace(/^\.\/dist\/|\.js$/g, ""));
}

function isEntry(target: unknown): target is Entry {
  return typeof target === "object" && target !== null && "import" in target && "require" in target;
}

export async function bundleLibrary(folder: string): Promise<void> {
  const entries = entriesOf(folder);
  await write(folder, {
    main: "index.js",
    make: () => made(folder, entries),
    keep: (file) => /\.d\.ts(\.map)?$/.test(file) || file === ".tsbuildinfo",
  });
}

async function made(folder: string, entries: readonly string[]): Promise<Output> {
  const [esm, cjs] = await Promise.all([bundle(folder, entries, "esm"), bundle(folder, entries, "cjs")]);
  const { files, inputs } = declarations(join(root, folder, "dist"), entries);
  const scripts = ["library", "declarations", "output"].map((name) => `scripts/bundle/${name}.ts`);
  return {
    files: new Map([...[...esm, ...cjs].map(({ fileName, code }) => [fileName, code] as const), ...files]),
    inputs: [
      ...new Set([...esm.flatMap(({ moduleIds }) => moduleIds).map((id) => relative(root, id)), ...inputs]),
      ...scripts,
      ...entries.map((entry) => `${folder}/dist/${entry}.d.ts`),
      `${folder}/package.json`,
      "node_modules/rolldown/package.json",
    ],
  };
}

/**
 * Stack traces of ES modules lead to the line of a function, with every name but those of arguments and local variables; those
 * of CommonJS have the names of functions and classes. The declarations have the comments.
 */
const minified = {
  esm: {
    mangle: { keepNames: true, toplevel: false },
    // Each statement stays on a line, with the head of its block where it is the first.
    compress: { target: "node20", sequences: false, joinVars: false },
    codegen: { removeWhitespace: false },
  },
  cjs: { mangle: { keepNames: true }, compress: { target: "node20" }, codegen: { removeWhitespace: true } },
} as const;

async function bundle(
  folder: string,
  entries: readonly string[],
  format: "esm" | "cjs",
): Promise<Pick<OutputChunk, "fileName" | "moduleIds" | "code">[]> {
  const src = join(root, folder, "src");
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.ts`)])),
    cwd: root,
    platform: "node",
    // Everything that has a name of its own is installed beside the package.
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    resolve: { extensionAlias: { ".js": [".ts"] } },
    // No line for each source file: their names say nothing to those who have the package only.
    experimental: { attachDebugInfo: "none" },
    logLevel: "silent",
  });
  const ending = format === "esm" ? "js" : "cjs";
  const shared = new Set<string>();
  const { output } = await build.generate({
    format,
    exports: "named",
    entryFileNames: `[name].${ending}`,
    chunkFileNames: `[name].${ending}`,
    minify: minified[format],
    comments: { jsdoc: false, legal: false, annotation: true },
    codeSplitting: {
      groups: [
        {
          name(id, context) {
            if (shared.size === 0) {
              follow(join(src, "index.ts"), (path) => context.getModuleInfo(path)?.importedIds ?? [], shared);
            }
            return shared.has(id) ? "shared" : null;
          },
        },
        {
          // Code that several other entries have in common is named by its folder, or its file.
          name: (id) => relative(src, id).split(/[\\/]/)[0]?.replace(/\.ts$/, "") ?? null,
          minShareCount: 2,
        },
      ],
    },
  });
  await build.close();
  const chunks = output.filter((chunk) => chunk.type === "chunk");
  if (format === "esm")
    return Promise.all(
      chunks.map(async ({ fileName, moduleIds, code }) => {
        return { fileName, moduleIds, code: await withoutSpaces(code) };
      }),
    );
  return Promise.all(
    chunks.map(async ({ fileName, moduleIds, code, exports }) => ({
      fileName,
      moduleIds,
      code: (await inShortLines(code)) + (exports.includes("default") ? DEFAULT_IS_THE_MODULE : ""),
    })),
  );
}

/**
 * The libraries whose API an entry has return their class from `require()`, or a namespace with the class as `default`. The
 * class with all names as its properties is both.
 */
const DEFAULT_IS_THE_MODULE = `
if (typeof exports.default === "function")
module.exports = Object.defineProperty(Object.assign(exports.default, exports), "__esModule", { value: true });
`;

const LONGEST_LINE = 160;

/** A sixth of the code is indentation, other idle spaces, and lines without a statement of their own. @throws a text has lost some */
async function withoutSpaces(code: string): Promise<string> {
  const flat = inFewLines(code.replace(/^\t+/gm, ""));
  const [before, after] = await Promise.all(
    [code, flat].map((text) => transform(text, { minifyWhitespace: true, charset: "utf8" })),
  );
  if (before?.code !== after?.code) throw new Error("a text must not lose its spaces, nor its indent");
  return flat;
}

/** A line that begins a block, a list or an object, or has another entry behind it. */
const OPEN = /[,([{]$/;

/** Spaces that separate no words, and no signs that would be another one together. */
const IDLE_SPACES = / ?([=*<>!&|?:,{}()[\]]+) ?/g;

/**
 * Joins the first statement of a block, what closes one, and the entries of a list to the line before, up to a length that
 * a terminal shows. A line without a text has no more spaces than it needs.
 */
function inFewLines(code: string): string {
  const lines: string[] = [];
  let isText = false;
  for (const written of code.split("\n")) {
    const line = isText || /["'`/]/.test(written) ? written : written.replace(IDLE_SPACES, "$1");
    const before = lines.at(-1) ?? "";
    const follows = /^[\])}]/.test(line) || OPEN.test(before);
    if (!isText && follows && before.length + line.length < LONGEST_LINE)
      lines[lines.length - 1] = before + line;
    else lines.push(line);
    if ((line.match(/(?<!\\)`/g)?.length ?? 0) % 2 === 1) isText = !isText;
  }
  return lines.join("\n");
}

/** Node.js prints the line that threw an error which nobody caught. One line of minified code would fill the terminal. */
async function inShortLines(code: string): Promise<string> {
  const settings = { minifyWhitespace: true, minifySyntax: true, lineLimit: LONGEST_LINE } as const;
  const { code: broken } = await transform(code, { ...settings, target: "node20", charset: "utf8" });
  return broken;
}
