/** Rows for one statement each: PostgreSQL takes at most 65,535 parameters. */
const ROWS_AT_ONCE = 1_000;

export function* chunks<Item>(items: readonly Item[], size = ROWS_AT_ONCE): Generator<Item[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
