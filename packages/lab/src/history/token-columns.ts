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

const DIGIT_BITS = 11;
/** Below this many rows a small table of digits costs less than many. */
const SMALL = 1000;

/**
 * Up to `most` pairs, in the order of their tokens.
 *
 * L2 by one look at each grant in the order of tokens: whoever has a smaller token must have begun before this one
 * returned, so the latest beginning so far decides.
 */
export function checkTokenColumns(columns: TokenColumns, most = 20): TokenPair[] {
  const { invMs, retMs, token } = columns;
  const { rows, ranks } = byToken(token);
  const pairs: TokenPair[] = [];
  // Among strictly smaller tokens: those of one token are L1's business, and are compared with the ones before them.
  let latest = -1;
  let latestMs = -Infinity;
  let group = 0;
  for (let at = 0; at < rows.length && pairs.length < most; at++) {
    const row = rows[at]!;
    const isSame = at > 0 && ranks[at] === ranks[at - 1];
    if (isSame) pairs.push(duplicate(rows[at - 1]!, row));
    for (; !isSame && group < at; group++) {
      const earlier = rows[group]!;
      if (invMs[earlier]! > latestMs) {
        latestMs = invMs[earlier]!;
        latest = earlier;
      }
    }
    if (latestMs > retMs[row]!) pairs.push({ property: "L2", first: latest, second: row });
  }
  return pairs;
}

function duplicate(a: number, b: number): TokenPair {
  return { property: "L1", first: Math.min(a, b), second: Math.max(a, b) };
}

/** Rows in the order of their tokens, and beside each a number that is larger where the token is. */
interface Order {
  readonly rows: Uint32Array;
  readonly ranks: Float64Array;
}

/** Histories come nearly in this order, so that is looked at first; otherwise digit by digit. */
function byToken(token: BigUint64Array): Order {
  const rows = new Uint32Array(token.length);
  for (let row = 0; row < rows.length; row++) rows[row] = row;
  const offsets = offsetsOf(token);
  if (offsets === undefined) return byComparing(rows, token);
  if (isSorted(offsets)) return { rows, ranks: offsets };
  return sortByDigits({ rows, ranks: offsets });
}

function byComparing(rows: Uint32Array, token: BigUint64Array): Order {
  rows.sort((a, b) => (token[a]! < token[b]! ? -1 : Number(token[a]! > token[b]!)));
  const ranks = new Float64Array(rows.length);
  for (let at = 1; at < rows.length; at++) {
    ranks[at] = ranks[at - 1]! + Number(token[rows[at]!] !== token[rows[at - 1]!]);
  }
  return { rows, ranks };
}

/** Where the less significant half of a 64-bit word is. */
const LOW = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;
const WORD = 2 ** 32;

/**
 * Tokens as numbers above the smallest, exact as long as they lie within 2^53 of each other: 285 years of microseconds.
 * undefined where they do not. Read by halves: five million bigints would cost more than all the rest.
 */
function offsetsOf(token: BigUint64Array): Float64Array | undefined {
  const words = new Uint32Array(token.buffer, token.byteOffset, token.length * 2);
  let [low, high] = [words[LOW] ?? 0, words[HIGH] ?? 0];
  for (let at = 0; at < words.length; at += 2) {
    const [ownLow, ownHigh] = [words[at + LOW]!, words[at + HIGH]!];
    if (ownHigh < high || (ownHigh === high && ownLow < low)) {
      low = ownLow;
      high = ownHigh;
    }
  }
  const offsets = new Float64Array(token.length);
  for (let row = 0; row < offsets.length; row++) {
    const offset = (words[2 * row + HIGH]! - high) * WORD + words[2 * row + LOW]! - low;
    if (offset > Number.MAX_SAFE_INTEGER) return undefined;
    offsets[row] = offset;
  }
  return offsets;
}

function isSorted(values: Float64Array): boolean {
  for (let row = 1; row < values.length; row++) if (values[row - 1]! > values[row]!) return false;
  return true;
}

/**
 * Least digit first; each pass keeps the order of the one before. As many passes as the largest offset has digits. The
 * offsets move with their rows: reading them in place would miss the cache at each step.
 */
function sortByDigits(order: Order): Order {
  const count = order.rows.length;
  let greatest = 0;
  for (const rank of order.ranks) if (rank > greatest) greatest = rank;
  let from = order;
  let to: Order = { rows: new Uint32Array(count), ranks: new Float64Array(count) };
  const bits = count < SMALL ? 6 : DIGIT_BITS;
  for (let unit = 1; unit <= greatest; unit *= 2 ** bits) {
    sortByDigit(from, to, 1 / unit, 2 ** bits - 1);
    [from, to] = [to, from];
  }
  return from;
}

/** `scale` is a power of two, so the product is exact. */
function sortByDigit(from: Order, to: Order, scale: number, mask: number): void {
  const places = new Uint32Array(mask + 2);
  const { rows, ranks } = from;
  for (let at = 0; at < ranks.length; at++) places[(Math.floor(ranks[at]! * scale) & mask) + 1]!++;
  for (let digit = 1; digit <= mask; digit++) places[digit]! += places[digit - 1]!;
  for (let at = 0; at < ranks.length; at++) {
    const rank = ranks[at]!;
    const place = places[Math.floor(rank * scale) & mask]!++;
    to.rows[place] = rows[at]!;
    to.ranks[place] = rank;
  }
}
