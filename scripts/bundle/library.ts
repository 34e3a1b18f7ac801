/**
 * Makes the code of a package that is imported and required: for each of the two formats one shared file, a thin file
 * for each entry, and one for each `import()` (ADR 0013). Without the compiler's declarations it makes the code alone.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { transform } from "esbuild";
import { type OutputChunk, rolldown } from "rolldown";
import { workspaces } from "../files.ts";
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
  const scripts = ["library", "output"].map((name) => `scripts/bundle/${name}.ts`);
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
        return { fileName, moduleIds, code: await withoutIndent(code) };
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

/** A tenth of the code is indentation, and lines without a statement of their own. @throws a text of several lines has some */
async function withoutIndent(code: string): Promise<string> {
  const flat = inFewLines(code.replace(/^\t+/gm, ""));
  const [before, after] = await Promise.all(
    [code, flat].map((text) => transform(text, { minifyWhitespace: true, charset: "utf8" })),
  );
  if (before?.code !== after?.code)
    throw new Error("an indented text of several lines must not lose its indent");
  return flat;
}

/** A line that begins a block, a list or an object, or has another entry behind it. */
const OPEN = /[,([{]$/;

/** Joins the first statement of a block, what closes one, and the entries of a list to the line before, up to a length that a terminal shows. */
function inFewLines(code: string): string {
  const lines: string[] = [];
  let isText = false;
  for (const line of code.split("\n")) {
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

function follow(id: string, next: (id: string) => readonly string[], found: Set<string>): void {
  if (found.has(id)) return;
  found.add(id);
  for (const other of next(id)) follow(other, next, found);
}

/**
 * The published declarations: copies of what the compiler wrote, of those that an entry leads to. A declaration that
 * ends in `.d.cts` is about a CommonJS file. An ES module may import such a file, but not the other way round, so each
 * inner declaration is there once, and only those of the entries have a second copy that ends in `.d.mts`.
 */
function declarations(dist: string, entries: readonly string[]): Output {
  const found = new Set<string>();
  const specifier = /((?:from|import)\s*\(?\s*")(\.{1,2}\/[^"]+)\.js"/g;
  const compiled = entries.map((entry) => join(dist, `${entry}.d.ts`)).filter(existsSync);
  const names = namesOf(compiled.map((file) => readFileSync(file, "utf8")));
  const texts = new Map<string, string>();
  const textOf = (file: string): string => {
    const whole = (): string => readFileSync(file, "utf8");
    // An entry declares for programs only.
    const text =
      texts.get(file) ??
      (compiled.includes(file) ? whole() : withoutInner(withoutDocs(whole(), names), names));
    texts.set(file, text);
    return text;
  };
  const imported = (file: string) =>
    [...textOf(file).matchAll(specifier)].map(([, , path = ""]) => resolve(dirname(file), `${path}.d.ts`));
  for (const file of compiled) follow(file, imported, found);
  const files = [...found].flatMap((file) => {
    const stem = relative(dist, file)
      .replaceAll("\\", "/")
      .replace(/\.d\.ts$/, "");
    const text = textOf(file)
      // What is said of a whole file, before its imports, is for those who change it.
      .replace(/^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?=import |export .* from )/, "")
      .replace(specifier, '$1$2.cjs"')
      .replace(/^(?: {4})+/gm, (indent) => "\t".repeat(indent.length / 4))
      .replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n");
    return (entries.includes(stem) ? ["cts", "mts"] : ["cts"]).map(
      (end) => [`${stem}.d.${end}`, text] as const,
    );
  });
  return { files: new Map(files), inputs: [...found].map((file) => relative(root, file)) };
}

/** Leaves out the comments of a file that declares nothing by a name that an entry passes on: no program gets any of it. */
function withoutDocs(text: string, names: ReadonlySet<string>): string {
  const declared = text.matchAll(
    /^export (?:declare (?:abstract )?)?(?:class|interface|type|const|function) (\w+)/gm,
  );
  if ([...declared].some(([, name = ""]) => names.has(name))) return text;
  return text.replace(/^\s*\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/gm, "");
}

/** The names that entries pass on. */
function namesOf(entries: readonly string[]): Set<string> {
  const passedOn = /^export (?:type )?\{ ?([^}]*?) ?\}/gm;
  return new Set(
    entries.flatMap((text) =>
      [...text.matchAll(passedOn)].flatMap(([, names = ""]) =>
        names.split(/,\s*/).map((name) => name.replace(/^type /, "").replace(/ as .*$/, "")),
      ),
    ),
  );
}

/**
 * Leaves out of a declaration what no program can use: a function that no entry passes on, and what a constructor takes of a class
 * that only the library makes. What was imported for them alone goes with them.
 */
function withoutInner(text: string, names: ReadonlySet<string>): string {
  const doc = String.raw`(?:/\*\*(?:(?!\*/)[\s\S])*\*/\n\s*)?`;
  const open = text
    .replace(
      new RegExp(`^${doc}export declare function (\\w+)[\\s\\S]*?;\\n(?![\\s}])`, "gm"),
      (all, name: string) => (names.has(name) ? all : ""),
    )
    .replace(/^export declare (?:abstract )?class (\w+)[\s\S]*?^\}/gm, (all, name: string) =>
      names.has(name) && !/\/\*\* Made by (?:(?!\*\/)[\s\S])*\*\/\n\s*constructor/.test(all)
        ? all
        : all.replace(/^(\s*)constructor\([^;]*\);$/m, "$1private constructor();"),
    );
  const line = /^import (type )?\{ ([^}]*) \} from (".*");\n/gm;
  const rest = open.replace(line, "");
  const isNamed = (each: string): boolean =>
    new RegExp(`\\b${each.replace(/^type /, "").replace(/^.* as /, "")}\\b`).test(rest);
  return open.replace(line, (_, type = "", imported: string, from: string) => {
    const used = imported.split(", ").filter(isNamed);
    return used.length > 0 ? `import ${type}{ ${used.join(", ")} } from ${from};\n` : "";
  });
}
