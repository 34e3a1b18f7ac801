/**
 * SqlFragment: a piece of SQL with its parameters, in the form that template tags take.
 *
 * `sql(fragment.strings, ...fragment.values)` puts it into a statement of postgres, kysely or drizzle, and
 * `knex.raw(fragment.strings.join("?"), fragment.values)` into one of knex.
 */
export class SqlFragment<Value = unknown> {
  /** The text between the parameters: one more than there are parameters. */
  readonly strings: TemplateStringsArray;
  readonly values: Value[];

  constructor(strings: readonly string[], values: readonly Value[]) {
    this.strings = Object.freeze(Object.assign([...strings], { raw: Object.freeze([...strings]) }));
    this.values = [...values];
  }
}

/** What a driver takes: pg reads `text`, mysql2 reads `sql`; both say the same. */
export interface SqlStatement {
  readonly text: string;
  readonly sql: string;
  readonly values: unknown[];
}

/**
 * A template tag: fragments are taken in, everything else becomes a parameter. Only an instance counts as a
 * fragment, so that no object out of a request can pass for SQL.
 */
export function compose(strings: readonly string[], parts: readonly unknown[]): SqlFragment {
  const text = [strings[0] ?? ""];
  const values: unknown[] = [];
  for (const [at, part] of parts.entries()) {
    const inner = part instanceof SqlFragment ? part : new SqlFragment(["", ""], [part]);
    text[text.length - 1] += inner.strings[0] ?? "";
    text.push(...inner.strings.slice(1));
    text[text.length - 1] += strings[at + 1] ?? "";
    values.push(...inner.values);
  }
  return new SqlFragment(text, values);
}

/** Fragments one after the other, with `separator` between them. */
export function joined(fragments: readonly SqlFragment[], separator: string): SqlFragment {
  const strings = fragments.map((_, at) => (at === 0 ? "" : separator));
  return compose([...strings, ""], fragments);
}

/** Text without parameters. */
export function raw(text: string): SqlFragment<never> {
  return new SqlFragment<never>([text], []);
}
