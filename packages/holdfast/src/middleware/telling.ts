/**
 * Telling: what the response to one request says of limits, however many middlewares it passed. The older fields have
 * room for one limit: that is the nearest of all, whichever middleware writes last.
 */
import type { LimitResult } from "../limits/result.js";
import { type Field, type FieldStyle, fieldsOf } from "./fields.js";

interface Part {
  readonly styles: readonly FieldStyle[];
  readonly results: readonly LimitResult[];
  readonly fields: Field[];
}

const tellings = new WeakMap<object, Telling>();

export class Telling {
  readonly #parts: Part[] = [];

  private constructor() {}

  /** @param identity of the request */
  static of(identity: object): Telling {
    const found = tellings.get(identity) ?? new Telling();
    tellings.set(identity, found);
    return found;
  }

  /** The fields of one middleware. Some write them when those further in have added theirs: the array follows. */
  add(styles: readonly FieldStyle[], results: readonly LimitResult[], wallMs: number): readonly Field[] {
    if (styles.every((style) => style === "draft-11")) return fieldsOf(styles, results, wallMs);
    this.#parts.push({ styles, results, fields: [] });
    for (const part of this.#parts) {
      const fields = part.styles.flatMap((style) => fieldsOf([style], this.#resultsIn(part, style), wallMs));
      part.fields.splice(0, part.fields.length, ...fields);
    }
    return (this.#parts.at(-1) as Part).fields;
  }

  /** A list has room for everybody's; who tells in another style, or not at all, is not told of. */
  #resultsIn({ results }: Part, style: FieldStyle): readonly LimitResult[] {
    if (style === "draft-11") return results;
    return this.#parts.flatMap((each) => (each.styles.includes(style) ? each.results : []));
  }
}
