/** What is changed in a Lua source: conditions, limits of comparisons, and sums. */
import { type Chunk, type Expression, parse } from "luaparse";
import type { Change, Operator } from "./mutant.js";

interface Node {
  readonly type: string;
  readonly range: readonly [start: number, end: number];
  readonly [field: string]: unknown;
}

const boundaries: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const equalities: Readonly<Record<string, string>> = { "==": "~=", "~=": "==" };
const sums: Readonly<Record<string, string>> = { "+": "-", "-": "+", "*": "/", "/": "*" };
const extremes: Readonly<Record<string, string>> = { min: "max", max: "min" };

/** @throws {SyntaxError} */
export function luaChanges(source: string): Change[] {
  const chunk: Chunk = parse(source, { ranges: true, comments: false, luaVersion: "5.1" });
  const walk = new Walk(source);
  walk.visit(chunk as unknown as Node, null);
  return walk.changes;
}

class Walk {
  readonly changes: Change[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  visit(node: Node, parent: Node | null): void {
    this.#change(node, parent);
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) this.visit(child, node);
  }

  #change(node: Node, parent: Node | null): void {
    switch (node.type) {
      case "IfClause":
      case "ElseifClause":
        this.#condition(node.condition as Node);
        break;
      case "LogicalExpression":
        for (const operand of [node.left, node.right] as Node[])
          this.#add(node, "operand", `(${this.#text(operand)})`);
        break;
      case "BinaryExpression":
        this.#binary(node, parent);
        break;
      case "MemberExpression":
        this.#extreme(node);
        break;
    }
  }

  #condition(test: Node): void {
    const changed: readonly (readonly [Operator, string])[] = [
      ["negated", `not (${this.#text(test)})`],
      ["always", "true"],
      ["never", "false"],
    ];
    for (const [operator, after] of changed) this.#add(test, operator, after);
  }

  #binary(node: Node, parent: Node | null): void {
    const operator = node.operator as string;
    const [left, right] = [this.#text(node.left as Node), this.#text(node.right as Node)];
    if (boundaries[operator]) this.#add(node, "boundary", `${left} ${boundaries[operator]} ${right}`);
    const isTest = parent?.type === "IfClause" || parent?.type === "ElseifClause";
    if (equalities[operator] && !isTest)
      this.#add(node, "negated", `${left} ${equalities[operator]} ${right}`);
    if (sums[operator]) this.#add(node, "arithmetic", `${left} ${sums[operator]} ${right}`);
  }

  #extreme({ base, identifier }: Node): void {
    const [object, property] = [base as Node, identifier as Node];
    const other = extremes[this.#text(property)];
    if (other && this.#text(object) === "math") this.#add(property, "arithmetic", other);
  }

  #text({ range: [start, end] }: Node): string {
    return this.#source.slice(start, end);
  }

  #add({ range: [start, end] }: Node, operator: Operator, after: string): void {
    this.changes.push({ start, end, operator, after });
  }
}

function isNode(value: unknown): value is Node & Expression {
  return typeof value === "object" && value !== null && "range" in value;
}
