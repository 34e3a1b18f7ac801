/**
 * ResponseHeaders: the fields about limits on the response to one request, however many middlewares it passed. The older
 * fields have room for one limit. They describe the nearest of all, whichever middleware writes last.
 */
import type { LimitResult } from "../limits/result.js";
import { type Field, type FieldStyle, fieldsOf } from "./fields.js";

/** The share of one middleware. */
interface Share {
  readonly styles: readonly FieldStyle[];
  readonly results: readonly LimitResult[];
  readonly fields: Field[];
}

const byRequest = new WeakMap<object, ResponseHeaders>();

export class ResponseHeaders {
  readonly #shares: Share[] = [];

  private constructor() {}

  /** @param identity of the request */
  static of(identity: object): ResponseHeaders {
    const known = byRequest.get(identity) ?? new ResponseHeaders();
    byRequest.set(identity, known);
    return known;
  }

  /**
   * The fields of one middleware. A shell may write them after middlewares further in have added theirs, so the returned
   * array is kept up to date.
   */
  add(styles: readonly FieldStyle[], results: readonly LimitResult[], wallMs: number): readonly Field[] {
    if (styles.every((style) => style === "draft-11")) return fieldsOf(styles, results, wallMs);
    this.#shares.push({ styles, results, fields: [] });
    for (const share of this.#shares) {
      const fields = share.styles.flatMap((style) =>
        fieldsOf([style], this.#resultsIn(share, style), wallMs),
      );
      share.fields.splice(0, share.fields.length, ...fields);
    }
    return (this.#shares.at(-1) as Share).fields;
  }

  /** A list field has room for all limits, so each middleware adds its own. Other fields choose among those of one style. */
  #resultsIn({ results }: Share, style: FieldStyle): readonly LimitResult[] {
    if (style === "draft-11") return results;
    return this.#shares.flatMap((each) => (each.styles.includes(style) ? each.results : []));
  }
}
