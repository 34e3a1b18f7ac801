/** What is changed in a TypeScript source: conditions, limits of comparisons, sums of times, and from when a time counts. */
import { parseSync } from "oxc-parser";
import type { Change, Operator } from "./mutant.js";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const boundaries: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const equalities: Readonly<Record<string, string>> = { "===": "!==", "!==": "===" };
const sums: Readonly<Record<string, string>> = { "+": "-", "-": "+", "*": "/", "/": "*" };
const extremes: Readonly<Record<string, string>> = { min: "max", max: "min" };
/** A sum of these is a time, a share of one, or a token. */
const counted = /Ms\b|_MS\b|SHARE|floor|[tT]oken|#highest|DRIFT/;
/** What reads the clock, by what a file calls it. */
const clocks = ["this.#schedule.clock", "this.#parts.schedule.clock", "this.#clock", "schedule.clock"];

/** @throws {SyntaxError} */
export function typescriptChanges(file: string, source: string): Change[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new SyntaxError(`${file}: ${errors[0].message}`);
  const walk = new Walk(source);
  walk.visit(program as unknown as Node, null);
  return walk.changes;
}

class Walk {
  readonly changes: Change[] = [];
  readonly #source: string;
  readonly #clock: string | undefined;

  constructor(source: string) {
    this.#source = source;
    this.#clock = clocks.find((clock) => source.includes(`${clock}.now()`));
  }

  visit(node: Node, parent: Node | null): void {
    if (isType(node)) return;
    this.#change(node, parent);
    for (const [field, value] of Object.entries(node)) {
      if (field === "parent") continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) this.visit(child, node);
    }
  }

  #change(node: Node, parent: Node | null): void {
    switch (node.type) {
      case "IfStatement":
      case "ConditionalExpression":
        this.#condition(node.test as Node, ["negated", "always", "never"]);
        break;
      case "WhileStatement":
        this.#condition(node.test as Node, ["never"]);
        break;
      case "LogicalExpression":
        this.#operands(node);
        break;
      case "BinaryExpression":
        this.#comparison(node, parent);
        this.#sum(node);
        break;
      case "CallExpression":
        this.#extreme(node.callee as Node);
        break;
      case "Property":
        this.#sentAtProperty(node);
        break;
      default:
        this.#sentAt(node, parent);
    }
  }

  #condition(test: Node, operators: readonly Operator[]): void {
    const text = this.#text(test);
    const after = { negated: `!(${text})`, always: "true", never: "false" } as Readonly<
      Record<string, string>
    >;
    for (const operator of operators) this.#add(test, operator, after[operator] as string);
  }

  #operands({ operator, left, right, ...node }: Node): void {
    if (operator !== "&&" && operator !== "||") return;
    for (const operand of [left, right] as Node[])
      this.#add(node as Node, "operand", `(${this.#text(operand)})`);
  }

  #comparison(node: Node, parent: Node | null): void {
    const operator = node.operator as string;
    const [left, right] = [this.#text(node.left as Node), this.#text(node.right as Node)];
    const limit = boundaries[operator];
    if (limit) this.#add(node, "boundary", `${left} ${limit} ${right}`);
    const isTest = parent?.type === "IfStatement" || parent?.type === "ConditionalExpression";
    if (equalities[operator] && !isTest)
      this.#add(node, "negated", `${left} ${equalities[operator]} ${right}`);
  }

  #sum(node: Node): void {
    const other = sums[node.operator as string];
    if (!other || !counted.test(this.#text(node))) return;
    this.#add(
      node,
      "arithmetic",
      `${this.#text(node.left as Node)} ${other} ${this.#text(node.right as Node)}`,
    );
  }

  #extreme(callee: Node): void {
    const { object, property } = callee as Node & { object?: Node; property?: Node };
    if (callee.type !== "MemberExpression" || !object || !property || this.#text(object) !== "Math") return;
    const other = extremes[this.#text(property)];
    if (other) this.#add(property, "arithmetic", other);
  }

  /** `{ sentAt }` in a value. */
  #sentAtProperty(node: Node): void {
    const { shorthand, key, value } = node as Node & { shorthand?: boolean; key: Node; value: Node };
    if (!this.#clock || this.#text(key) !== "sentAt") return;
    if (value.type === "AssignmentPattern" || value.type === "NewExpression") return;
    if (shorthand) {
      if (!this.#isPattern(node)) this.#add(node, "later", `sentAt: ${this.#clock}.now()`);
    } else this.#add(value, "later", `${this.#clock}.now()`);
  }

  /** `sentAt` as an argument, or what a field of that name is set to. */
  #sentAt(node: Node, parent: Node | null): void {
    if (!this.#clock || !parent) return;
    const text = this.#text(node);
    const isTime = text === "sentAt" || text.endsWith(".sentAt") || text.endsWith(".#sentAt");
    if (!isTime || (node.type !== "Identifier" && node.type !== "MemberExpression")) return;
    const isArgument = parent.type === "CallExpression" && (parent.arguments as Node[]).includes(node);
    const isAssigned = parent.type === "AssignmentExpression" && parent.right === node;
    if (isArgument || isAssigned) this.#add(node, "later", `${this.#clock}.now()`);
  }

  /** What stands on the left, or in parameters, takes apart and makes nothing. */
  #isPattern({ end }: Node): boolean {
    return /^[^;{}]*\}\s*(?:=(?!>)|:|\)\s*(?::|=>))/.test(this.#source.slice(end));
  }

  #text({ start, end }: Node): string {
    return this.#source.slice(start, end);
  }

  #add({ start, end }: Node, operator: Operator, after: string): void {
    this.changes.push({ start, end, operator, after });
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

const typed = ["TSAsExpression", "TSNonNullExpression", "TSSatisfiesExpression"];

function isType({ type }: Node): boolean {
  return type.startsWith("TS") && !typed.includes(type);
}
