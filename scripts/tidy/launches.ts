/** A program that outlives the test that started it goes on at full speed: each is started where the run that ends it knows it. */
import type { ImportNode } from "./clocks.ts";
import { type Finding, type Source, walk } from "./source.ts";

const starters = ["spawn", "fork"];
const launcher = "packages/conformance/src/launched.ts";

export function checkLaunches({ file, program, lineAt }: Source): Finding[] {
  const isJudged = /(^|\/)test\/|^packages\/(conformance|databases|lab)\/src\//.test(file);
  if (!isJudged || file === launcher) return [];
  const findings: Finding[] = [];
  walk(program, (node) => {
    if (node.type !== "ImportDeclaration" || !/^(node:)?child_process$/.test(node.source.value)) return;
    const found = startersIn(node);
    if (found.length === 0) return;
    const message = `${found.join(" and ")} of node:child_process: use launch() or launchModule() of @holdfast/conformance`;
    findings.push({ file, line: lineAt(node.start), rule: "launch", message });
  });
  return findings;
}

function startersIn({ specifiers }: ImportNode): string[] {
  return specifiers.flatMap((each) => {
    if (each.type !== "ImportSpecifier" || each.imported.type !== "Identifier") return [];
    return starters.includes(each.imported.name) ? [each.imported.name] : [];
  });
}
