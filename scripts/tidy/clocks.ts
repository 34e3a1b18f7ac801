/**
 * Time and chance have one door: a folder `time/` or a file `time.ts`. Whatever goes round it stands still in the tests
 * on a clock that the test moves, and a failure does not happen again for the same input.
 */
import type { Node } from "oxc-parser";
import { type Finding, type Source, walk } from "./source.ts";

export type ImportNode = Extract<Node, { type: "ImportDeclaration" }>;

/** The ways to time and chance that a rule looks for. */
export interface Sought {
  /** Members by the name that has them; "*" is every member. */
  readonly members: Readonly<Record<string, readonly string[]>>;
  /** Each mention is a use, a call or not. */
  readonly globals: readonly string[];
  /** Functions of the file whose calls are uses. */
  readonly calls?: ReadonlySet<string>;
  /** The functions of node:crypto by chance, whatever the file calls the module. */
  readonly isCrypto?: boolean;
  /** The names of the uses that an import is. */
  imported(node: ImportNode): readonly string[];
}

export interface Use {
  /** The place in the text of the file. */
  readonly start: number;
  readonly name: string;
}

export const clockMembers: Sought["members"] = {
  Date: ["now"],
  performance: ["*"],
  Math: ["random"],
  AbortSignal: ["timeout"],
  Atomics: ["wait", "waitAsync"],
  process: ["hrtime", "uptime"],
};
/** The names of the global object. */
const wholes = ["globalThis", "global", "self"];
const hidden = ["Date", "performance", "globalThis"];
const modules = ["timers", "timers/promises", "perf_hooks"];
/** The library takes a turn of the event loop, and the chance in its ids, as arguments too. */
const outside: Sought = {
  members: {
    ...clockMembers,
    crypto: ["randomUUID", "getRandomValues"],
    globalThis: ["setTimeout", "setInterval", "setImmediate", "performance"],
  },
  globals: ["setTimeout", "setInterval", "setImmediate"],
  isCrypto: true,
  imported(node) {
    const module = moduleOf(node);
    return [
      ...(modules.includes(module) ? [node.source.value] : []),
      ...(module === "crypto" ? randomNames(node) : []),
    ];
  },
};

export function checkClocks(source: Source): Finding[] {
  return usesIn(source.program, outside).map(({ start, name }) => {
    const message = `${name} outside time/: take a clock, a timer or randomness as an argument`;
    return { file: source.file, line: source.lineAt(start), rule: "clock", message };
  });
}

/** Every use below a node, in the order of the text. */
export function usesIn(tree: Node, sought: Sought): Use[] {
  const uses: Use[] = [];
  walk(tree, (node, parent) => {
    // `typeof setTimeout` in a type reads no clock.
    if (node.type === "TSTypeQuery") return false;
    if (node.type === "ImportDeclaration") {
      for (const name of sought.imported(node)) uses.push({ start: node.start, name });
      return false;
    }
    const name = usedBy(node, parent, sought);
    if (name !== undefined) uses.push({ start: node.start, name });
    return true;
  });
  return uses;
}

/** "timers" of "node:timers". */
export function moduleOf(node: ImportNode): string {
  return node.source.value.replace(/^node:/, "");
}

function usedBy(
  node: Node,
  parent: Node | undefined,
  { members, globals, calls, isCrypto }: Sought,
): string | undefined {
  if (node.type === "MemberExpression") {
    const name = memberName(node);
    const owner = ownerOf(node.object);
    if (name && owner && (isBanned(members, owner, name) || (isCrypto && isRandom(owner, name))))
      return `${owner}.${name}`;
  }
  if (node.type === "VariableDeclarator" && node.init) {
    const taken = takenFrom(node.id, ownerOf(node.init), members);
    if (taken !== undefined) return taken;
  }
  if (node.type === "NewExpression" && isNamed(node.callee, "Date") && node.arguments.length === 0)
    return "new Date()";
  if (node.type === "CallExpression" && isNamed(node.callee, "Date")) return "Date()";
  if (node.type === "Identifier" && globals.includes(node.name) && !isOnlyAName(node, parent))
    return node.name;
  if (node.type === "CallExpression" && node.callee.type === "Identifier" && calls?.has(node.callee.name))
    return node.callee.name;
  return undefined;
}

/** "Date" of `Date`, and of `globalThis.Date`. */
function ownerOf(node: Node): string | undefined {
  if (node.type === "Identifier") return wholes.includes(node.name) ? "globalThis" : node.name;
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return undefined;
  return wholes.includes(node.object.name) ? memberName(node) : undefined;
}

function isBanned(members: Sought["members"], owner: string, name: string): boolean {
  const banned = Object.hasOwn(members, owner) ? members[owner] : undefined;
  return banned !== undefined && (banned.includes("*") || banned.includes(name));
}

/** `const { now } = Date`, and `const D = Date`: what a name of its own hides. */
function takenFrom(target: Node, owner: string | undefined, members: Sought["members"]): string | undefined {
  if (owner === undefined) return undefined;
  if (target.type === "Identifier") return hidden.includes(owner) ? `${owner} as ${target.name}` : undefined;
  if (target.type !== "ObjectPattern") return undefined;
  const names = target.properties.flatMap((property) =>
    property.type === "Property" && property.key.type === "Identifier" ? [property.key.name] : [],
  );
  const name = names.find((each) => isBanned(members, owner, each));
  return name && `${owner}.${name}`;
}

function memberName(node: Extract<Node, { type: "MemberExpression" }>): string | undefined {
  if (node.property.type === "Identifier" && !node.computed) return node.property.name;
  return node.property.type === "Literal" ? String(node.property.value) : undefined;
}

function isNamed(node: Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

/** `clock.setTimeout`, `{ setTimeout: … }`, `setTimeout(run): Timer` in an interface: a name, not the global. */
function isOnlyAName(node: Node, parent: Node | undefined): boolean {
  if (parent === undefined || !("key" in parent || "property" in parent)) return false;
  const isKey = "key" in parent && parent.key === node;
  return (
    isKey || ("property" in parent && parent.property === node && !("computed" in parent && parent.computed))
  );
}

function randomNames(node: ImportNode): string[] {
  return node.specifiers.flatMap((specifier) => {
    if (specifier.type !== "ImportSpecifier" || specifier.imported.type !== "Identifier") return [];
    const { name } = specifier.imported;
    return isRandom("crypto", name) || name === "webcrypto" ? [name] : [];
  });
}

/** Whatever name node:crypto was imported under, its `random…` functions keep theirs. */
function isRandom(owner: string, name: string): boolean {
  return /crypto/i.test(owner) && (name.startsWith("random") || name === "getRandomValues");
}
