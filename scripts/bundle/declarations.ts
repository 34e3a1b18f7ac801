/**
 * The published declarations of a library: what the compiler wrote, without what no program can name or reach (ADR 0013).
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync } from "rolldown/utils";
import { type Output, root } from "./output.ts";

/** One name that a module imports or passes on. */
interface Specifier {
  /** Its name in this module. */
  readonly name: string;
  /** Its name in the module that it is from. */
  readonly original: string;
  /** As it is written between the braces. */
  readonly text: string;
}

interface From {
  /** The comment before the statement that tells the compiler how to read it, such as `@ts-ignore`; or "". */
  readonly directive: string;
  /** `import`, `import type`, `export` or `export type`. */
  readonly keyword: string;
  readonly path: string;
  readonly specifiers: readonly Specifier[];
}

/** A declaration with its comment. */
interface Part {
  /** Undefined: a statement that declares nothing for other modules. */
  readonly name: string | undefined;
  readonly text: string;
}

interface Module {
  /** `/// <reference …>` */
  readonly head: string;
  readonly froms: readonly From[];
  readonly parts: readonly Part[];
}

const COMMENT = String.raw`/\*\*(?:(?!\*/)[\s\S])*\*/\n`;
/** Their users know the declarations of a class, which has everything else as its members (`export =`). */
const CLASSES = ["redlock-4/index"];
const DIRECTIVE = /\/\*\* @ts-.*\*\/\n$/;

/**
 * A declaration that ends in `.d.cts` is about a CommonJS file. An ES module may import such a file, but not the other way
 * round, so each inner declaration is there once, and only those of the entries have a second copy that ends in `.d.mts`.
 */
export function declarations(dist: string, entries: readonly string[]): Output {
  const compiled = entries.map((entry) => join(dist, `${entry}.d.ts`)).filter(existsSync);
  const published = new Set(compiled.flatMap((file) => namesOf(read(file))));
  const modules = new Map<string, Module>();
  const moduleOf = (file: string): Module => {
    const module = modules.get(file) ?? withoutInner(read(file), published);
    modules.set(file, module);
    return module;
  };
  const reached = new Set<string>();
  for (const file of compiled)
    for (const name of namesOf(moduleOf(file)))
      follow(idOf(file, name), (id) => leadsTo(id, moduleOf), reached);
  const files = new Map<string, string>();
  for (const [file, module] of modules) {
    const stem = relative(dist, file)
      .replaceAll("\\", "/")
      .replace(/\.d\.ts$/, "");
    const text = textOf(module, (name) => reached.has(idOf(file, name)), published);
    files.set(`${stem}.d.cts`, CLASSES.includes(stem) ? textAsClass(module) : text);
    if (entries.includes(stem)) files.set(`${stem}.d.mts`, text);
  }
  return { files, inputs: [...modules.keys()].map((file) => relative(root, file)) };
}

export function follow(id: string, next: (id: string) => readonly string[], found: Set<string>): void {
  if (found.has(id)) return;
  found.add(id);
  for (const other of next(id)) follow(other, next, found);
}

function read(file: string): Module {
  const text = readFileSync(file, "utf8");
  const froms: From[] = [];
  const parts: Part[] = [];
  let end = 0;
  for (const node of parseSync(file, text).program.body) {
    const before = text.slice(end, node.start);
    const own = text.slice(node.start, node.end);
    end = node.end;
    const from = fromOf(node, own, DIRECTIVE.exec(before)?.[0] ?? "");
    if (from) froms.push(from);
    else
      parts.push({
        name: nameOf(node),
        text: `${new RegExp(`${COMMENT}$`).exec(before)?.[0] ?? ""}${own}\n`,
      });
  }
  return { head: (text.match(/^\/\/\/ <.*>\n/gm) ?? []).join(""), froms, parts };
}

type Statement = ReturnType<typeof parseSync>["program"]["body"][number];

/** What a statement takes from another module. */
function fromOf(node: Statement, own: string, directive: string): From | undefined {
  const isImport = node.type === "ImportDeclaration";
  if (!(isImport || node.type === "ExportNamedDeclaration") || !node.source) return undefined;
  const [, keyword = "", written = ""] = /^((?:import|export)(?: type)?) \{ ?([^}]*?),? ?\}/.exec(own) ?? [];
  const specifiers = written.split(/,\s*/).map((text) => {
    const [original = "", name = original] = text.replace(/^type /, "").split(" as ");
    return { name, original, text };
  });
  return { directive, keyword, path: node.source.value, specifiers };
}

function nameOf(node: Statement): string | undefined {
  const declared = node.type === "ExportNamedDeclaration" ? node.declaration : node;
  if (declared?.type === "VariableDeclaration") {
    const [only] = declared.declarations;
    return only?.id.type === "Identifier" ? only.id.name : undefined;
  }
  return declared && "id" in declared && declared.id?.type === "Identifier" ? declared.id.name : undefined;
}

/** Every name that a module has for others, or from others. */
function namesOf({ froms, parts }: Module): string[] {
  return [
    ...froms.flatMap(({ specifiers }) => specifiers.map(({ name }) => name)),
    ...parts.flatMap(({ name }) => name ?? []),
  ];
}

function idOf(file: string, name: string): string {
  return `${file}\n${name}`;
}

/** The names that a name leads to: where it is from, or what its declaration has in it. */
function leadsTo(id: string, moduleOf: (file: string) => Module): string[] {
  const [file = "", wanted = ""] = id.split("\n");
  const module = moduleOf(file);
  const origins = module.froms
    .filter(({ path }) => path.startsWith("."))
    .flatMap(({ path, specifiers }) =>
      specifiers
        .filter(({ name }) => name === wanted)
        .map(({ original }) => idOf(resolve(dirname(file), path.replace(/\.js$/, ".d.ts")), original)),
    );
  const words = wordsOf(module.parts.filter(({ name }) => name === wanted || name === undefined));
  return [
    ...origins,
    ...namesOf(module)
      .filter((name) => words.has(name))
      .map((name) => idOf(file, name)),
  ];
}

/** Every word of a text but for its comments. */
function wordsOf(parts: readonly Part[]): ReadonlySet<string> {
  return new Set(parts.flatMap(({ text }) => text.replace(/\/\*[\s\S]*?\*\//g, "").match(/[\w$]+/g) ?? []));
}

/** Leaves out what a constructor takes of a class that only the library makes. What is named there alone is reached by nobody. */
function withoutInner(module: Module, published: ReadonlySet<string>): Module {
  const isMadeHere = /\/\*\* Made by (?:(?!\*\/)[\s\S])*\*\/\n\s*constructor/;
  const parts = module.parts.map((part) => {
    const isOpen = part.name !== undefined && published.has(part.name) && !isMadeHere.test(part.text);
    return isOpen
      ? part
      : { ...part, text: part.text.replace(/^(\s*)constructor\([^;]*\);$/m, "$1private constructor();") };
  });
  return { ...module, parts };
}

/** A module that declares nothing under a published name loses its comments: no program gets any of it. */
function textOf(
  { head, froms, parts }: Module,
  isReached: (name: string) => boolean,
  published: ReadonlySet<string>,
): string {
  const kept = parts.filter(({ name }) => name === undefined || isReached(name));
  const isPublic = kept.some(({ name }) => name !== undefined && published.has(name));
  const taken = froms.flatMap(({ directive, keyword, path, specifiers }) => {
    const texts = specifiers.filter(({ name }) => isReached(name)).map(({ text }) => text);
    if (texts.length === 0) return [];
    return `${directive}${keyword} { ${texts.join(", ")} } from "${commonJs(path)}";\n`;
  });
  const body = kept.map(({ text }) =>
    isPublic ? text : text.replace(new RegExp(String.raw`^\s*${COMMENT}`, "gm"), ""),
  );
  return `${head}${taken.join("")}${body.join("")}`.replace(/^(?: {4})+/gm, (indent) =>
    "\t".repeat(indent.length / 4),
  );
}

/** The class that `require()` returns, with all names of the entry as its properties, and their types in its namespace. */
function textAsClass({ head, froms }: Module): string {
  const all = froms.flatMap(({ specifiers }) => specifiers);
  const { original: name = "" } = all.find((each) => each.name === "default") ?? {};
  const imports = froms.map(({ keyword, path, specifiers }) => {
    const texts = specifiers
      .filter((each) => each.name !== name)
      .map((each) => (each.name === "default" ? `${name} as ${name}Class` : each.text));
    return `${keyword.replace("export", "import")} { ${texts.join(", ")} } from "${commonJs(path)}";\n`;
  });
  const names = all.map((each) => (each.name === "default" ? `${name} as default` : each.name));
  const text = `declare class ${name} extends ${name}Class {}
declare namespace ${name} {
\texport { ${names.join(", ")} };
}
export = ${name};
`;
  return `${head}${imports.join("")}${text}`;
}

function commonJs(path: string): string {
  return path.replace(/^(\..*)\.js$/, "$1.cjs");
}
