/** Import cycles, type-only imports included: what cannot be read one file after the other. */
import { resolveFile } from "./directions.ts";
import type { Finding, Source } from "./source.ts";

export function checkCycles(sources: readonly Source[]): Finding[] {
  const files = new Set(sources.map(({ file }) => file));
  const edges = new Map(
    sources.map((source) => [
      source.file,
      source.imports.flatMap(({ specifier, line }) => {
        const target = resolveFile(source.file, specifier, files);
        return target === undefined ? [] : [{ target, line }];
      }),
    ]),
  );
  const findings: Finding[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string) => {
    path.push(file);
    for (const { target, line } of edges.get(file) ?? []) {
      const start = path.indexOf(target);
      if (start !== -1) {
        const message = [...path.slice(start), target].join(" -> ");
        findings.push({ file, line, rule: "cycle", message });
      } else if (!done.has(target)) {
        visit(target);
      }
    }
    path.pop();
    done.add(file);
  };
  for (const file of files) if (!done.has(file)) visit(file);
  return findings;
}
