/** Files and functions that fit into a head. */
import type { Node } from "oxc-parser";
import { type Finding, type Source, walk } from "./source.ts";

const fileLines = 400;
const functionLines = 60;
const fileBytes = 60_000;
const handedFunctions = 3;
/** A lock file and a picture are as large as they are. */
const mayBeLarge = /(^|\/)package-lock\.json$|\.(svg|png)$/;

export function checkFileSize(file: string, text: string): Finding[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  if (lines <= fileLines) return [];
  return [{ file, line: fileLines, rule: "size", message: `${lines} lines; at most ${fileLines} in a file` }];
}

/** What a program can make again is not committed: that is what large files are. */
export function checkFileWeight(file: string, bytes: number): Finding[] {
  if (bytes <= fileBytes || mayBeLarge.test(file)) return [];
  return [
    { file, line: 1, rule: "size", message: `${bytes} bytes; at most ${fileBytes} in a file that git has` },
  ];
}

export function checkFunctionSize(source: Source): Finding[] {
  const findings: Finding[] = [];
  walk(source.program, (node, parent) => {
    const isFunction =
      node.type === "FunctionDeclaration" ||
      node.type === "FunctionExpression" ||
      node.type === "ArrowFunctionExpression";
    if (!isFunction) return;
    const line = source.lineAt(node.start);
    const lines = source.lineAt(node.end - 1) - line + 1;
    if (lines <= functionLines) return;
    const named = [node, parent].flatMap((at) => {
      const name = at && ("id" in at ? at.id : "key" in at ? at.key : undefined);
      return name && typeof name === "object" && "name" in name ? [String(name.name)] : [];
    });
    const message = `${named[0] ?? "a function"} has ${lines} lines; at most ${functionLines}`;
    findings.push({ file: source.file, line, rule: "size", message });
  });
  return findings;
}

/** More functions that an object is made with tie it and its maker together: one owns the other, or there is a named interface. */
export function checkHandedFunctions(source: Source): Finding[] {
  const findings: Finding[] = [];
  walk(source.program, (node) => {
    if (node.type !== "NewExpression") return;
    const values = node.arguments.flatMap((argument): Node[] => {
      if (argument.type !== "ObjectExpression") return [argument];
      return argument.properties.flatMap((property) =>
        property.type === "Property" ? [property.value] : [],
      );
    });
    const count = values.filter(
      ({ type }) => type === "ArrowFunctionExpression" || type === "FunctionExpression",
    ).length;
    if (count <= handedFunctions) return;
    const message = `an object is made with ${count} functions; at most ${handedFunctions}`;
    findings.push({ file: source.file, line: source.lineAt(node.start), rule: "size", message });
  });
  return findings;
}
