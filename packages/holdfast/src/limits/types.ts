/**
 * The types of limits: one row for each. A row says what the code around the script has to know of a type, so that no
 * other file names the types. What a type does is in `lua/_bucket.lua`, `_window.lua`, `_sliding.lua` and `_lifetime.lua`.
 */

interface TypeOfLimit {
  /**
   * How the cost that was taken becomes free again:
   *
   * - `evenly`: at a steady rate, as a bucket leaks
   * - `together`: all of it when its window ends
   * - `singly`: each charge by itself, `per` after it was made
   * - `never`: only by a refund; such a type has no `per`
   */
  readonly frees: "evenly" | "together" | "singly" | "never";
  /** Whether the burst may differ from `max`. */
  readonly hasBurst: boolean;
  /** What its script writes. The first group is the level of a bucket, or else the count. */
  readonly state: RegExp;
}

/** "<level> <since> <per> <unit>" */
const LEVEL = /^(\d+) (\d+) (\d+) (\d+)$/;
/** "<count> <start>" */
const COUNT_OF_WINDOW = /^(\d+) \d+$/;
/** "<count>"; of a log the sum of its entries, which look.lua works out. */
const COUNT = /^(\d+)$/;

export const types = {
  rolling: { frees: "evenly", hasBurst: false, state: LEVEL },
  gcra: { frees: "evenly", hasBurst: true, state: LEVEL },
  window: { frees: "together", hasBurst: false, state: COUNT_OF_WINDOW },
  sliding: { frees: "singly", hasBurst: false, state: COUNT },
  lifetime: { frees: "never", hasBurst: false, state: COUNT },
} as const satisfies Readonly<Record<string, TypeOfLimit>>;

/**
 * How a limit counts, and what it admits at most, by the server's clock and for any number of processes:
 *
 * - `rolling`: a bucket of `max` that regenerates evenly. In any window of `per` less than twice `max`.
 * - `gcra`: the same with a `burst` of its own. In any window of `per` at most `burst` + `max`.
 * - `window`: a count that begins again `per` after its first charge. At most `max` in each of its windows, so in any
 *   window of `per` at most twice `max`.
 * - `sliding`: in any window of `per` at most `max`. Redis keeps an entry for each charge of the last `per`.
 * - `lifetime`: a count that never begins again. At most `max` ever.
 *
 * The bounds do not cover costs that were admitted without Redis (`outage`), or that the server lost with its data. A
 * refund counts as never taken. So a refund of a cost that has regenerated already admits that cost once more, unless the
 * refund says when the cost was taken (`atMs`); a reservation knows by itself. A late charge (`atMs`) counts for less, on
 * the word of its caller. A server whose clock is set back admits no more than was left, for at most one `per`. A server
 * whose clock is set forward admits as if the time had passed.
 */
export type LimitType = keyof typeof types;

export const limitTypes = Object.keys(types) as readonly LimitType[];

/** The types that `suits` is true for, as an error message lists them. */
export function namesOfTypes(suits: (type: TypeOfLimit) => boolean): string {
  return limitTypes.filter((type) => suits(types[type])).join(" and ");
}
