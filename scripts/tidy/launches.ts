/** A program that outlives the test that started it goes on at full speed: each is started where the run that ends it knows it. */
import type { Node } from "oxc-parser";
import type { ImportNode } from "./clocks.ts";
import { type Finding, type Source, walk } from "./source.ts";

const starters = ["spawn", "fork"];
const modules = ["child_process", "node:child_process", "cluster", "node:cluster"];
const launcher = "packages/conformance/src/launched.ts";

export function checkLaunches({ file, program, lineAt }: Source): Finding[] {
  const isJudged = /(^|\/)test\/|^packages\/(conformance|databases|lab)\/src\//.test(file);
  if (!isJudged || file === launcher) return [];
  const findings: Finding[] = [];
  walk(program, (node) => {
    const found = startersAt(node);
    if (found.length === 0) return;
    const message = `${found.join(" and ")}: use launch() or launchModule() of @holdfast/conformance`;
    findings.push({ file, line: lineAt(node.start), rule: "launch", message });
  });
  return findings;
}

/** The whole module, in whichever way it is loaded, has them all. */
function startersAt(node: Node): string[] {
  if (node.type === "ImportDeclaration" && modules.includes(node.source.value))
    return node.specifiers.flatMap((each) => starterOf(each) ?? []);
  const [named] = node.type === "CallExpression" ? node.arguments : [];
  const source = node.type === "ImportExpression" ? node.source : named;
  return source?.type === "Literal" && modules.includes(String(source.value)) ? [String(source.value)] : [];
}

function starterOf(each: ImportNode["specifiers"][number]): string | undefined {
  if (each.type !== "ImportSpecifier") return `all of a module as ${each.local.name}`;
  const { imported } = each;
  const name = imported.type === "Identifier" ? imported.name : imported.value;
  return starters.includes(name) ? name : undefined;
}
