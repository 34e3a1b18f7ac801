/** One TypeScript or JavaScript file, parsed once for all rules. */
import { type Comment, type Node, parseSync, visitorKeys } from "oxc-parser";

export interface Finding {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
}

export interface Source {
  readonly file: string;
  readonly text: string;
  readonly program: Node;
  readonly comments: readonly Comment[];
  /** Static, re-exporting, dynamic and type imports whose specifier is a literal. */
  readonly imports: readonly Import[];
  lineAt(offset: number): number;
}

export function parse(file: string, text: string): Source {
  const { program, comments, errors } = parseSync(file, text);
  const [error] = errors;
  if (error) throw new Error(`${file}: ${error.message}`);
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineAt = (offset: number) => {
    const after = starts.findIndex((start) => start > offset);
    return after === -1 ? starts.length : after;
  };
  const imports: Import[] = [];
  walk(program, (node) => {
    const specifier = importedBy(node);
    if (specifier !== undefined) imports.push({ specifier, line: lineAt(node.start) });
  });
  return { file, text, program, comments, imports, lineAt };
}

function importedBy(node: Node): string | undefined {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      return node.source.value;
    case "ExportNamedDeclaration":
      return node.source?.value;
    case "ImportExpression":
      return node.source.type === "Literal" && typeof node.source.value === "string"
        ? node.source.value
        : undefined;
    case "TSImportType":
      return node.source.value;
    default:
      return undefined;
  }
}

/** Visits a tree from the top, parents first. `enter` returns false to leave out what is below a node. */
export function walk(
  node: Node,
  enter: (node: Node, parent: Node | undefined) => unknown,
  parent?: Node,
): void {
  if (enter(node, parent) === false) return;
  for (const key of visitorKeys[node.type] ?? []) {
    const child = (node as unknown as Record<string, Node | (Node | null)[] | null | undefined>)[key];
    for (const next of Array.isArray(child) ? child : [child]) if (next) walk(next, enter, node);
  }
}
