/**
 * Makes the code of a package that is imported and required: for each of the two formats one shared file, a thin file
 * for each entry, and one for each `import()` (ADR 0013). The compiler writes only declarations for these packages.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { type OutputChunk, rolldown } from "rolldown";
import { filesBelow, workspaces } from "../files.ts";
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
      `${folder}/package.json`,
      "node_modules/rolldown/package.json",
    ],
  };
}

async function bundle(
  folder: string,
  entries: readonly string[],
  format: "esm" | "cjs",
): Promise<OutputChunk[]> {
  const src = join(root, folder, "src");
  const build = await rolldown({
    input: Object.fromEntries(entries.map((entry) => [entry, join(src, `${entry}.ts`)])),
    cwd: root,
    platform: "node",
    // Everything that has a name of its own is installed beside the package.
    external: (id) => !id.startsWith(".") && !isAbsolute(id),
    resolve: { extensionAlias: { ".js": [".ts"] } },
    logLevel: "silent",
  });
  const ending = format === "esm" ? "js" : "cjs";
  const shared = new Set<string>();
  const { output } = await build.generate({
    format,
    exports: "named",
    entryFileNames: `[name].${ending}`,
    chunkFileNames: `[name].${ending}`,
    // Stack traces lead into readable code, and the declarations have the comments.
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
  return output.filter((chunk) => chunk.type === "chunk");
}

function follow(id: string, next: (id: string) => readonly string[], found: Set<string>): void {
  if (found.has(id)) return;
  found.add(id);
  for (const other of next(id)) follow(other, next, found);
}

/**
 * A declaration is about a CommonJS file when it ends in `.d.cts`. These are copies of what the compiler wrote, of
 * those that an entry leads to. The others are not published.
 */
function declarations(dist: string, entries: readonly string[]): Output {
  const found = new Set<string>();
  const specifier = /((?:from|import)\s*\(?\s*")(\.{1,2}\/[^"]+)\.js"/g;
  const textOf = (file: string) => readFileSync(file, "utf8");
  const imported = (file: string) =>
    [...textOf(file).matchAll(specifier)].map(([, , path = ""]) => resolve(dirname(file), `${path}.d.ts`));
  const compiled = entries.map((entry) => join(dist, `${entry}.d.ts`)).filter(existsSync);
  for (const file of compiled) follow(file, imported, found);
  const files = [...found].map((file): [string, string] => [
    relative(dist, file).replaceAll("\\", "/").replace(/\.ts$/, ".cts"),
    textOf(file)
      .replace(specifier, '$1$2.cjs"')
      .replace(/\n\/\/# sourceMappingURL=.*\s*$/, "\n"),
  ]);
  const compiledAll = filesBelow(dist).filter((file) => file.endsWith(".d.ts"));
  const inner = compiledAll.filter((file) => !found.has(join(dist, file)));
  return {
    files: new Map([...files, [".npmignore", inner.map((file) => `/${file}\n`).join("")]]),
    inputs: [...found].map((file) => relative(root, file)),
  };
}
