/**
 * A test has the same verdict for the same commit: it waits for a condition, moves a clock of its own and draws by a
 * seed. A use of the machine's clock or chance in a test is a finding. A list holds the number of uses that each file
 * still has, and a number in it never rises.
 */
import type { Node } from "oxc-parser";
import { clockMembers, type ImportNode, moduleOf, type Sought, type Use, usesIn } from "./clocks.ts";
import { resolveFile } from "./directions.ts";
import { type Finding, type Source, walk } from "./source.ts";

export const testClocksFile = "scripts/tidy/test-clocks.json";
/** All uses together. It falls with the list, and never rises: a new use takes the place of an old one. */
const mostUses = 157;

/** `until` and `within` are the one way to wait for a condition, so their files alone read the clock. */
const doors = ["packages/conformance/src/time.ts", "packages/conformance/src/wait.ts"];
const timers = ["timers", "timers/promises"];
const timed = ["setTimeout", "setInterval"];
/** A turn of the event loop takes no time that a test could go by. */
const turns = ["setImmediate", "clearTimeout", "clearInterval", "clearImmediate"];
const doorFunctions = ["realNowMs", "afterRealMs", "pauseRealMs"];
/** The names that tests give to a wait. */
const sleepers = ["sleep", "pause", "delay", "quiet", ...doorFunctions];

type List = Readonly<Record<string, number>>;
/** Functions that a file declares: true where one does nothing but wait or read the clock. */
type Declared = ReadonlyMap<string, boolean>;

export function checkTestClocks(sources: readonly Source[], list: string): Finding[] {
  const allowed: List = JSON.parse(list);
  const judged = sources.filter(({ file }) => isJudged(file));
  const used = usesOf(judged);
  const findings = judged.flatMap((source) => [
    ...surplus(source, used.get(source.file) ?? [], allowed[source.file] ?? 0),
    ...unseeded(source),
  ]);
  for (const [file, count] of Object.entries(allowed)) {
    const found = used.get(file)?.length ?? 0;
    if (found >= count && count > 0) continue;
    const remedy =
      found === 0 || count <= 0
        ? `delete the entry in ${testClocksFile}`
        : `lower the number in ${testClocksFile} to ${found}`;
    const message = `${file} has ${usesInWords(found)}: ${remedy}, or run "npx tsx scripts/tidy.ts --lower"`;
    findings.push({ file: testClocksFile, line: lineOf(list, file), rule: "test-clock", message });
  }
  const all = Object.values(allowed).reduce((sum, count) => sum + count, 0);
  if (all > mostUses) {
    const message = `${usesInWords(all)} are allowed in all, at most ${mostUses}: wait for a condition instead`;
    findings.push({ file: testClocksFile, line: 1, rule: "test-clock", message });
  }
  return findings;
}

/** The list with every number that the sources allow to lower. No number rises, and no file joins. */
export function lowered(sources: readonly Source[], list: string): string {
  const used = usesOf(sources.filter(({ file }) => isJudged(file)));
  const entries = Object.entries(JSON.parse(list) as List)
    .map(([file, count]) => [file, Math.min(count, used.get(file)?.length ?? 0)] as const)
    .filter(([, count]) => count > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

/** A suite of the soak gates nothing. */
function isJudged(file: string): boolean {
  const isTest = /(^|\/)test\/|^packages\/conformance\/src\//.test(file);
  return isTest && !file.endsWith(".soak.test.ts") && !doors.includes(file);
}

function surplus({ file, lineAt }: Source, uses: readonly Use[], allowed: number): Finding[] {
  const [first] = uses.slice(allowed);
  if (!first) return [];
  const lines = [...new Set(uses.map(({ start }) => lineAt(start)))].join(", ");
  const message = `${first.name}: ${usesInWords(uses.length)} (lines ${lines}), at most ${allowed} allowed: wait for a condition with until() or within(), move a clock of the test, or draw by a seed`;
  return [{ file, line: lineAt(first.start), rule: "test-clock", message }];
}

function usesInWords(count: number): string {
  return `${count} ${count === 1 ? "use" : "uses"} of the machine's clock or chance`;
}

/** The line of the list that names a file. */
function lineOf(list: string, file: string): number {
  return list.slice(0, list.indexOf(JSON.stringify(file))).split("\n").length;
}

function usesOf(sources: readonly Source[]): ReadonlyMap<string, readonly Use[]> {
  const files = new Set([...doors, ...sources.map(({ file }) => file)]);
  const declared = new Map(sources.map((source) => [source.file, declaredIn(source)]));
  return new Map(
    sources.map((source) => {
      const own = [...(declared.get(source.file) ?? [])].filter(([, sleeps]) => sleeps);
      const calls = importsOf(source).flatMap((node) =>
        importedSleepers(node, declared.get(resolveFile(source.file, node.source.value, files) ?? "")),
      );
      return [source.file, usesIn(source.program, sought(source, [...own.map(([name]) => name), ...calls]))];
    }),
  );
}

/** A use is a mention of the clock or of chance, or a call of one of the functions in `calls`. */
function sought(source: Source, calls: readonly string[]): Sought {
  const members: Record<string, readonly string[]> = {
    ...clockMembers,
    // The clock of the library is the real one where a test asks it by itself.
    systemClock: ["*"],
    globalThis: [...timed, "performance"],
  };
  const aliases = new Set(calls);
  for (const node of importsOf(source).filter((found) => timers.includes(moduleOf(found)))) {
    for (const specifier of node.specifiers) {
      const { name } = specifier.local;
      const imported = importedName(specifier);
      if (imported === undefined) members[name] = [...timed, "scheduler"];
      else if (imported === "scheduler") members[name] = ["wait"];
      else if (timed.includes(imported) && !timed.includes(name)) aliases.add(name);
    }
  }
  return {
    members,
    globals: timed,
    calls: aliases,
    imported: (node) => (isTimedImport(node) ? [node.source.value] : []),
  };
}

function isTimedImport(node: ImportNode): boolean {
  const names = node.specifiers.map((specifier) => importedName(specifier) ?? "*");
  return timers.includes(moduleOf(node)) && names.some((name) => !turns.includes(name));
}

function importsOf(source: Source): ImportNode[] {
  const found: ImportNode[] = [];
  walk(source.program, (node) => {
    if (node.type === "ImportDeclaration") found.push(node);
    return node.type === "Program";
  });
  return found;
}

/** A default import and a namespace take no single name: the result is undefined. */
function importedName(specifier: ImportNode["specifiers"][number]): string | undefined {
  if (specifier.type !== "ImportSpecifier") return undefined;
  return specifier.imported.type === "Identifier" ? specifier.imported.name : specifier.imported.value;
}

/** A function of an unknown file counts by its name; the declaration of a known one says whether it sleeps. */
function importedSleepers(node: ImportNode, target: Declared | undefined): string[] {
  return node.specifiers.flatMap((specifier) => {
    const name = importedName(specifier);
    if (name === undefined || !(target?.get(name) ?? sleepers.includes(name))) return [];
    return [specifier.local.name];
  });
}

function declaredIn(source: Source): Declared {
  const direct = sought(source, doorFunctions);
  const declared = new Map<string, boolean>();
  walk(source.program, (node) => {
    const [name, body] = declaration(node);
    if (name === undefined || !body) return;
    const sleeps = (isOneExpression(body) || sleepers.includes(name)) && usesIn(body, direct).length > 0;
    declared.set(name, sleeps || declared.get(name) === true);
  });
  return declared;
}

function isOneExpression(body: Node): boolean {
  if (body.type !== "BlockStatement") return true;
  const [first, second] = body.body;
  return !second && (first?.type === "ReturnStatement" || first?.type === "ExpressionStatement");
}

/** The name and the body of `function name() {}` and of `const name = () => …`. */
function declaration(node: Node): [name?: string, body?: Node | null] {
  if (node.type === "FunctionDeclaration" && node.id) return [node.id.name, node.body];
  if (node.type !== "VariableDeclarator" || node.id.type !== "Identifier") return [];
  const { id, init } = node;
  if (init?.type !== "ArrowFunctionExpression" && init?.type !== "FunctionExpression") return [];
  return [id.name, init.body];
}

/** fast-check draws another seed in each run unless the test gives one. */
function unseeded(source: Source): Finding[] {
  const runs = ["assert", "check"];
  const imports = importsOf(source).filter((node) => node.source.value === "fast-check");
  const locals = imports.flatMap((node) => node.specifiers);
  const whole = locals.flatMap((specifier) => (importedName(specifier) ? [] : [specifier.local.name]));
  const single = locals.flatMap((specifier) =>
    runs.includes(importedName(specifier) ?? "") ? [specifier.local.name] : [],
  );
  const findings: Finding[] = [];
  walk(source.program, (node) => {
    if (node.type !== "CallExpression" || hasSeed(node.arguments[1])) return;
    const { callee } = node;
    const isRun =
      callee.type === "MemberExpression"
        ? callee.object.type === "Identifier" &&
          whole.includes(callee.object.name) &&
          callee.property.type === "Identifier" &&
          runs.includes(callee.property.name)
        : callee.type === "Identifier" && single.includes(callee.name);
    if (!isRun) return;
    const message =
      "a property without a seed tries other values in each run: give it { seed: 1 } as options";
    findings.push({ file: source.file, line: source.lineAt(node.start), rule: "test-seed", message });
  });
  return findings;
}

function hasSeed(options: Node | undefined): boolean {
  if (options?.type !== "ObjectExpression") return false;
  return options.properties.some(
    (property) =>
      property.type === "Property" && property.key.type === "Identifier" && property.key.name === "seed",
  );
}
