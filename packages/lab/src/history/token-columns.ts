/** Grants as columns, for histories too long for objects: L1 and L2 over millions of grants in less than a second. */

/** Row by row, the grants of one key, in any order. */
export interface TokenColumns {
  readonly invMs: Float64Array;
  /** Infinity where the grant never returned. */
  readonly retMs: Float64Array;
  readonly token: BigUint64Array;
}

/** Two rows, and which rule they break. `first` has the smaller token, or the smaller row. */
export interface TokenPair {
  readonly property: "L1" | "L2";
  readonly first: number;
  readonly second: number;
}

const DIGIT_BITS = 13;
const BUCKETS = 1 << DIGIT_BITS;

/**
 * Up to `most` pairs, in the order of their tokens.
 *
 * L2 by one look at each grant in the order of tokens: whoever has a smaller token must have begun before this one
 * returned, so the latest beginning so far decides.
 */
export function checkTokenColumns(columns: TokenColumns, most = 20): TokenPair[] {
  const { invMs, retMs, token } = columns;
  const order = orderByToken(token);
  const pairs: TokenPair[] = [];
  // Among strictly smaller tokens: a group of equal ones is L1's business, and is compared with those before it.
  let latest = -1;
  let latestMs = -Infinity;
  let group = 0;
  for (let at = 0; at < order.length && pairs.length < most; at++) {
    const row = order[at]!;
    const isSame = at > 0 && token[row] === token[order[at - 1]!];
    if (isSame) pairs.push(pair("L1", order[at - 1]!, row));
    else {
      for (; group < at; group++) {
        const earlier = order[group]!;
        if (invMs[earlier]! > latestMs) {
          latestMs = invMs[earlier]!;
          latest = earlier;
        }
      }
    }
    if (latestMs > retMs[row]!) pairs.push({ property: "L2", first: latest, second: row });
  }
  return pairs;
}

function pair(property: "L1", a: number, b: number): TokenPair {
  return { property, first: Math.min(a, b), second: Math.max(a, b) };
}

/** Rows by token. Histories come nearly in this order, so that is looked at first; otherwise digit by digit. */
function orderByToken(token: BigUint64Array): Uint32Array {
  const rows = token.length;
  const order = new Uint32Array(rows);
  for (let row = 0; row < rows; row++) order[row] = row;
  const offsets = offsetsOf(token);
  if (offsets === undefined)
    return order.sort((a, b) => (token[a]! < token[b]! ? -1 : Number(token[a]! > token[b]!)));
  if (isSorted(offsets)) return order;
  if (rows < BUCKETS) return order.sort((a, b) => offsets[a]! - offsets[b]!);
  return sortByDigits(order, offsets);
}

/**
 * Tokens as numbers above the smallest, which are exact as long as a run's tokens lie within 2^53 of each other: 285
 * years of microseconds. undefined where they do not.
 */
function offsetsOf(token: BigUint64Array): Float64Array | undefined {
  let [least, greatest] = [token[0] ?? 0n, token[0] ?? 0n];
  for (const value of token) {
    if (value < least) least = value;
    else if (value > greatest) greatest = value;
  }
  if (greatest - least > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  const offsets = new Float64Array(token.length);
  for (let row = 0; row < token.length; row++) offsets[row] = Number(token[row]! - least);
  return offsets;
}

function isSorted(values: Float64Array): boolean {
  for (let row = 1; row < values.length; row++) if (values[row - 1]! > values[row]!) return false;
  return true;
}

/** Least digit first; each pass keeps the order of the one before. As many passes as the largest offset has digits. */
function sortByDigits(order: Uint32Array, offsets: Float64Array): Uint32Array {
  let greatest = 0;
  for (const offset of offsets) if (offset > greatest) greatest = offset;
  let from = order;
  let to: Uint32Array = new Uint32Array(order.length);
  for (let unit = 1; unit <= greatest; unit *= BUCKETS) {
    const starts = new Uint32Array(BUCKETS + 1);
    const digits = new Uint16Array(offsets.length);
    for (let row = 0; row < offsets.length; row++) {
      const digit = Math.floor(offsets[row]! / unit) % BUCKETS;
      digits[row] = digit;
      starts[digit + 1]!++;
    }
    for (let digit = 1; digit <= BUCKETS; digit++) starts[digit]! += starts[digit - 1]!;
    for (const row of from) to[starts[digits[row]!]!++] = row;
    [from, to] = [to, from];
  }
  return from;
}
