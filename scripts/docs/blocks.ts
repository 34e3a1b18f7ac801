/**
 * Code blocks of a Markdown file, and what their info string says:
 *
 *   ```ts                              runs by itself
 *   ```ts name=setup                   can be continued by its name
 *   ```ts continues                    goes on where the block before it ended
 *   ```ts continues=setup              goes on where the block of that name ended
 *   ```ts needs=postgres               runs beside an empty PostgreSQL; also mariadb
 *   ```ts file=handler.mts             no program: a file of this name in the folder of every program of the page
 *   ```js file=a.test.js test=jest     a program that jest, or vitest, runs under this name
 *   ```ts no-run="needs a cluster"     does not run, for a reason that is said
 *
 * `// prints: text` in a block is a line it writes to standard output; `…` in it stands for anything.
 */
export interface Block {
  readonly file: string;
  /** Line of its first line of code, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly name: string | undefined;
  /** Name of the block that it goes on from; "" is the one before it. */
  readonly continues: string | undefined;
  /** A database that it needs beside the server that all have. */
  readonly needs: string | undefined;
  /** Reason not to run it. */
  readonly noRun: string | undefined;
  /** Its name as a file beside the other programs of the page. */
  readonly path: string | undefined;
  /** What runs it, if not node. */
  readonly runner: string | undefined;
}

/** A program made of a block and all it goes on from, in the order of the page. */
export interface Program {
  readonly last: Block;
  readonly blocks: readonly Block[];
  /** The files of its page, which it may import. */
  readonly files: readonly Block[];
}

export const languages = new Set(["ts", "typescript", "js", "javascript"]);

const fence = /^( *)(`{3,})([^\n`]*)\n([\s\S]*?)^\1\2`* *$/gm;
const word = /([a-z-]+)(?:=(?:"([^"]*)"|(\S+)))?/g;

export function blocksOf(file: string, text: string): Block[] {
  return [...text.matchAll(fence)].map((match) => {
    const [, indent = "", , info = "", body = ""] = match;
    const [language = "", ...rest] = info.trim().split(/\s+/);
    const words = new Map(
      [...rest.join(" ").matchAll(word)].map(([, key = "", quoted, plain]) => [key, quoted ?? plain ?? ""]),
    );
    return {
      file,
      line: text.slice(0, match.index).split("\n").length + 1,
      language: language.toLowerCase(),
      code: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      name: words.get("name"),
      continues: words.get("continues"),
      needs: words.get("needs"),
      noRun: words.get("no-run"),
      path: words.get("file"),
      runner: words.get("test"),
    };
  });
}

/** The programs of one page. A block that another goes on from runs as part of that one. */
export function programsOf(page: readonly Block[]): Program[] {
  const files = filesOf(page);
  const runnable = page.filter(
    ({ language, noRun, path, runner }) =>
      languages.has(language) && noRun === undefined && (path === undefined || runner !== undefined),
  );
  const before = new Map(runnable.map((block, at) => [block, previous(block, runnable.slice(0, at))]));
  const continued = new Set(before.values());
  return runnable
    .filter((block) => !continued.has(block))
    .map((last) => {
      const blocks: Block[] = [];
      for (let at: Block | undefined = last; at; at = before.get(at)) blocks.unshift(at);
      return { last, blocks, files };
    });
}

function filesOf(page: readonly Block[]): Block[] {
  const files = page.filter(({ path, runner }) => path !== undefined && runner === undefined);
  const twice = files.find(({ path }, at) => files.slice(0, at).some((other) => other.path === path));
  if (twice) throw new Error(`${twice.file}:${twice.line} there are two files ${twice.path}`);
  return files;
}

function previous(block: Block, earlier: readonly Block[]): Block | undefined {
  if (block.continues === undefined) return undefined;
  const found =
    block.continues === "" ? earlier.at(-1) : earlier.findLast(({ name }) => name === block.continues);
  if (found) return found;
  throw new Error(`${block.file}:${block.line} continues a block that is not above it: ${block.continues}`);
}

/** What a reader would write, and what has the address of this run. */
const addresses = [
  ["redis://localhost:6379", "REDIS_URL"],
  ["postgres://localhost:5432/test", "POSTGRES_URL"],
  ["mysql://localhost:3306/test", "MYSQL_URL"],
] as const;

/**
 * The program as a file, every line at the number it has on the page, so that an error names the right place.
 * An address that a reader would write stands for the server of this run.
 */
export function fileOf({ blocks }: Program): string {
  const lines: string[] = [];
  for (const { line, code } of blocks) {
    while (lines.length < line - 1) lines.push("");
    lines.push(...code.trimEnd().split("\n"));
  }
  const text = addressed(lines.join("\n"));
  // A runner of tests may take it for CommonJS.
  return blocks.at(-1)?.runner === undefined ? `${text}\nexport {};\n` : `${text}\n`;
}

/** The text with the servers of this run in place of the addresses that a reader would write. */
export function addressed(text: string): string {
  return addresses.reduce(
    (before, [address, variable]) => before.replaceAll(`"${address}"`, `(process.env["${variable}"] ?? "")`),
    text,
  );
}

/** What a program says it prints; empty when it says nothing about it. */
export function printsOf({ blocks }: Program): string[] {
  return blocks.flatMap(({ code }) =>
    [...code.matchAll(/\/\/ prints: ?(.*)$/gm)].map(([, text = ""]) => text.trimEnd()),
  );
}

/** Why the output is not what the page promises; undefined when it is. */
export function outputDiffers(promised: readonly string[], output: string): string | undefined {
  if (promised.length === 0) return undefined;
  const printed = output
    .trimEnd()
    .split("\n")
    .map((line) => line.trimEnd());
  const matches = promised.map((line) => {
    const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`);
  });
  if (printed.length === promised.length && matches.every((match, at) => match.test(printed[at] ?? "")))
    return undefined;
  return `promised:\n  ${promised.join("\n  ")}\nprinted:\n  ${printed.join("\n  ")}`;
}
