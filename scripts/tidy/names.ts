/** What a reader looks for: files named by their noun, exports named one by one, no code in comments. */
import type { Finding, Source } from "./source.ts";
import { walk } from "./source.ts";

const empty = new Set(["util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"]);
const code =
  /^\s*(?:(?:const|let|var|import|export|return|await|throw)\b.*;|(?:if|for|while|switch) ?\(.*\) ?\{|\}\s*(?:else\b.*)?\{?)\s*$/;

export function checkPath(file: string): Finding[] {
  const word = file.split(/[/.\-_]/).find((part) => empty.has(part.toLowerCase()));
  if (word === undefined) return [];
  return [{ file, line: 1, rule: "name", message: `"${word}" says nothing: name it by its noun` }];
}

export function checkExports(source: Source): Finding[] {
  const findings: Finding[] = [];
  walk(source.program, (node) => {
    if (node.type !== "ExportAllDeclaration") return;
    const line = source.lineAt(node.start);
    findings.push({
      file: source.file,
      line,
      rule: "export",
      message: "export * hides the names: list them",
    });
  });
  return findings;
}

export function checkComments(source: Source): Finding[] {
  return source.comments
    .filter(({ type, value }) => type === "Line" && code.test(value))
    .map(({ start }) => ({
      file: source.file,
      line: source.lineAt(start),
      rule: "comment",
      message: "commented-out code: delete it, history keeps it",
    }));
}
