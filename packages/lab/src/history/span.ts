/** Spans of time, half-open: a span ends before its `toMs`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The same time in the fewest spans, in order, none of them empty. `settleMs` is added to the end of each. */
export function union(spans: readonly Span[], settleMs = 0): Span[] {
  const sorted = spans
    .map(({ fromMs, toMs }) => ({ fromMs, toMs: toMs + settleMs }))
    .filter(({ fromMs, toMs }) => toMs > fromMs)
    .sort((a, b) => a.fromMs - b.fromMs);
  const joined: { fromMs: number; toMs: number }[] = [];
  for (const span of sorted) {
    const last = joined.at(-1);
    if (last && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs);
    else joined.push(span);
  }
  return joined;
}

/** The parts of `span` that lie in none of `cut`, which is a union. */
function* outside(span: Span, cut: readonly Span[]): Generator<Span> {
  let fromMs = span.fromMs;
  for (let at = firstEndingAfter(cut, fromMs); at < cut.length && fromMs < span.toMs; at++) {
    const next = cut[at]!;
    if (next.fromMs > fromMs) yield { fromMs, toMs: Math.min(next.fromMs, span.toMs) };
    fromMs = next.toMs;
  }
  if (fromMs < span.toMs) yield { fromMs, toMs: span.toMs };
}

/** Milliseconds of `span` outside `cut`. */
export function lengthOutside(span: Span, cut: readonly Span[]): number {
  let length = 0;
  for (const { fromMs, toMs } of outside(span, cut)) length += toMs - fromMs;
  return length;
}

/** The longest part of `span` outside `cut`; an empty one where there is none. */
export function longestOutside(span: Span, cut: readonly Span[]): Span {
  let longest: Span = { fromMs: span.fromMs, toMs: span.fromMs };
  for (const part of outside(span, cut)) {
    if (part.toMs - part.fromMs > longest.toMs - longest.fromMs) longest = part;
  }
  return longest;
}

/** By halving: a long run has thousands of fault windows, and is asked about every operation. */
function firstEndingAfter(spans: readonly Span[], timeMs: number): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.toMs > timeMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
