/**
 * Excuse: why nobody needs to kill a mutant. It is a comment before the line that is changed:
 *
 *   // mutation: cost (always, negated), because answers come in order
 *   -- mutation: equivalent, because an alarm at infinity is never set
 *
 * Without kinds of change in brackets it covers all of that line. The reason may go on in the comment's next lines.
 */

export interface Excuse {
  /**
   * - equivalent: no run of the program can be told from another
   * - cost: only slower, or more calls
   * - people: only what people are told
   */
  readonly kind: "equivalent" | "cost" | "people";
  readonly why: string;
}

/** An excuse, and what it covers. */
interface Cover extends Excuse {
  /** From 1. */
  readonly line: number;
  readonly operators: readonly string[];
}

const comment = /^\s*(?:\/\/|--)\s?(.*)$/;
const opening = /^mutation: (equivalent|cost|people)(?: \(([a-z, ]+)\))?, because (.+)$/;

export class Excuses {
  readonly #covers: readonly Cover[];

  /** @throws {SyntaxError} a comment begins with `mutation:` and does not go on like an excuse */
  constructor(file: string, source: string) {
    const covers: Cover[] = [];
    let open: Omit<Cover, "line">[] = [];
    for (const [at, text] of source.split("\n").entries()) {
      const said = comment.exec(text)?.[1];
      if (said === undefined) {
        covers.push(...open.map((cover) => ({ ...cover, line: at + 1 })));
        open = [];
        continue;
      }
      const last = open.at(-1);
      const [, kind, operators, why = ""] = opening.exec(said) ?? [];
      if (kind) {
        const kinds = operators?.split(/, */) ?? [];
        open.push({ kind: kind as Excuse["kind"], operators: kinds, why });
      } else if (said.startsWith("mutation:")) {
        throw new SyntaxError(`${file}:${at + 1}: not an excuse: ${said}`);
      } else if (last) {
        open[open.length - 1] = { ...last, why: `${last.why} ${said}` };
      }
    }
    this.#covers = covers;
  }

  of(line: number, operator: string): Excuse | undefined {
    const cover = this.#covers.find(
      (each) => each.line === line && (each.operators.length === 0 || each.operators.includes(operator)),
    );
    return cover && { kind: cover.kind, why: cover.why };
  }
}
