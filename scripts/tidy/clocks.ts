/**
 * Time and chance have one door: a folder `time/` or a file `time.ts`. Whatever goes round it stands still in the tests
 * on a clock that the test moves, and a failure does not happen again for the same input.
 */
import type { Node } from "oxc-parser";
import { type Finding, type Source, walk } from "./source.ts";

/** Members by the global that has them; "*" is every member. */
const members: Readonly<Record<string, readonly string[]>> = {
  Date: ["now"],
  performance: ["*"],
  Math: ["random"],
  AbortSignal: ["timeout"],
  Atomics: ["wait", "waitAsync"],
  process: ["hrtime", "uptime"],
  crypto: ["randomUUID", "getRandomValues"],
  globalThis: ["setTimeout", "setInterval", "setImmediate", "performance"],
};
const globals = ["setTimeout", "setInterval", "setImmediate"];
const modules = ["timers", "timers/promises", "perf_hooks"];

export function checkClocks(source: Source): Finding[] {
  const findings: Finding[] = [];
  const found = (node: Node, what: string) => {
    const message = `${what} outside time/: take a clock, a timer or randomness as an argument`;
    findings.push({ file: source.file, line: source.lineAt(node.start), rule: "clock", message });
  };
  walk(source.program, (node, parent) => {
    // `typeof setTimeout` in a type reads no clock.
    if (node.type === "TSTypeQuery") return false;
    if (node.type === "ImportDeclaration") {
      const module = node.source.value.replace(/^node:/, "");
      if (modules.includes(module)) found(node, node.source.value);
      if (module === "crypto") for (const name of randomNames(node)) found(node, name);
      return false;
    }
    const what = usedBy(node, parent);
    if (what !== undefined) found(node, what);
    return true;
  });
  return findings;
}

function usedBy(node: Node, parent: Node | undefined): string | undefined {
  if (node.type === "MemberExpression" && node.object.type === "Identifier") {
    const name = memberName(node);
    const owner = node.object.name;
    const banned = Object.hasOwn(members, owner) ? members[owner] : undefined;
    if (name && (banned?.includes("*") || banned?.includes(name) || isRandom(owner, name)))
      return `${owner}.${name}`;
  }
  if (node.type === "NewExpression" && isNamed(node.callee, "Date") && node.arguments.length === 0)
    return "new Date()";
  if (node.type === "CallExpression" && isNamed(node.callee, "Date")) return "Date()";
  if (node.type === "Identifier" && globals.includes(node.name) && !isOnlyAName(node, parent))
    return node.name;
  return undefined;
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

function randomNames(node: Extract<Node, { type: "ImportDeclaration" }>): string[] {
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
