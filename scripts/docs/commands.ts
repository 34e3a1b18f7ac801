/**
 * Commands are not run (they install, they start servers), but what of this house they name must exist: scripts, files,
 * gates, and tests. Read are shell blocks line by line, and `npm …`, `npx …`, `node …`, `bash …` in the text.
 */
export interface Command {
  /** "page.md:12" */
  readonly place: string;
  readonly text: string;
}

export interface House {
  readonly scripts: Readonly<Record<string, string>>;
  readonly exists: (path: string) => boolean;
  /** Names of the gates of `npm run check`. */
  readonly gates: readonly string[];
  /** Text of each test file by its path. */
  readonly tests: ReadonlyMap<string, string>;
}

const shells = new Set(["sh", "bash", "shell", "console"]);
const fence = /^ *(`{3,})\s*([^\s`]*)/;
const inline = /`((?:npm|npx|node|bash) [^`\n]+)`/g;
/** What a shell takes as one word; a comment, a pipe or another command ends it. */
const words = /"([^"]*)"|'([^']*)'|(#.*|&&.*|[|;>].*)|([^\s"']+)/g;

export function commandsOf(page: string, text: string): Command[] {
  const found: Command[] = [];
  let open: { readonly ticks: string; readonly isShell: boolean } | undefined;
  for (const [at, line] of text.split("\n").entries()) {
    const place = `${page}:${at + 1}`;
    const [, ticks, language = ""] = fence.exec(line) ?? [];
    if (open !== undefined && ticks?.startsWith(open.ticks) && language === "") open = undefined;
    else if (open?.isShell) found.push({ place, text: line.trim().replace(/^\$ /, "") });
    else if (open === undefined && ticks) open = { ticks, isShell: shells.has(language.toLowerCase()) };
    else if (open === undefined)
      found.push(...[...line.matchAll(inline)].map(([, command = ""]) => ({ place, text: command })));
  }
  return found;
}

/** What of a command is not there; undefined when all is. */
export function missingIn({ text }: Command, house: House): string | undefined {
  const [program, ...rest] = wordsOf(text);
  const end = rest.includes("--") ? rest.indexOf("--") : rest.length;
  const script = program === "npm" ? scriptOf(rest.slice(0, end)) : undefined;
  if (script !== undefined) {
    if (!(script in house.scripts)) return `no script "${script}" in package.json`;
    const own = rest.slice(end + 1);
    if (script === "test" || script === "test:matrix") return missingTest(own, house.tests);
    return script === "check" ? missingGate(own, house.gates) : undefined;
  }
  if (program === "npx" && rest[0] === "vitest")
    return missingTest(rest.slice(["run", "watch"].includes(rest[1] ?? "") ? 2 : 1), house.tests);
  const path = /^(?:node|bash|npx tsx) (?:--import tsx )?([\w./-]+\/[\w./-]+)/.exec(text)?.[1];
  return path === undefined || path.startsWith("/") || house.exists(path) ? undefined : `no file ${path}`;
}

function wordsOf(text: string): string[] {
  const found: string[] = [];
  for (const [, double, single, end, plain] of text.matchAll(words)) {
    if (end !== undefined) break;
    found.push(double ?? single ?? plain ?? "");
  }
  return found;
}

/** `npm run NAME`, and the scripts that npm runs without `run`. */
function scriptOf(options: readonly string[]): string | undefined {
  const [first, second] = options.filter((option) => !option.startsWith("-"));
  if (first === "run") return second;
  return first === "start" || first === "test" ? first : undefined;
}

/** As vitest chooses: files whose path has one of the words in it, tests whose title has what follows `-t`. */
function missingTest(options: readonly string[], tests: House["tests"]): string | undefined {
  const at = options.findIndex((option) => option === "-t" || option === "--testNamePattern");
  const title = at === -1 ? undefined : options[at + 1];
  const filters = options.filter(
    (option, place) => !option.startsWith("-") && (at === -1 || place !== at + 1),
  );
  const empty = filters.find((filter) => ![...tests.keys()].some((path) => path.includes(filter)));
  if (empty !== undefined) return `no test file has "${empty}" in its path`;
  const files = [...tests].filter(
    ([path]) => filters.length === 0 || filters.some((word) => path.includes(word)),
  );
  if (title === undefined || files.some(([, text]) => text.includes(title))) return undefined;
  return `no test has "${title}" in its title`;
}

function missingGate(options: readonly string[], gates: readonly string[]): string | undefined {
  const unknown = options.find(
    (option) => option !== "--json" && !gates.some((gate) => gate.includes(option)),
  );
  return unknown === undefined ? undefined : `no gate "${unknown}" in npm run check`;
}
