/** Finds names by the keys that carry them, in small steps, so that the server serves others between two of them. */
import type { RedisPort } from "./port.js";
import { replyRow } from "./reply.js";

/** Keys that one SCAN looks at. */
const SCAN_COUNT = 1_000;

/**
 * Yields the names of the keys that match, each key once.
 * @param parse the name in a key; null for a key of another program
 */
export async function* scanNames<Name>(
  port: RedisPort,
  match: string,
  parse: (key: string) => Name | null,
  timeoutMs: number,
): AsyncGenerator<Name[], void> {
  const found = new Set<string>();
  let cursor = "0";
  do {
    // The client may put a prefix of its own before every key; the parser tells which keys are holdfast's.
    const args = ["SCAN", cursor, "MATCH", `*${match}`, "COUNT", String(SCAN_COUNT)];
    const [next, reply] = replyRow(await port.command(args, timeoutMs), 2);
    cursor = String(next);
    const keys = Array.isArray(reply) ? reply.map(String) : [];
    // SCAN may return a key twice.
    const fresh = keys.filter((key) => !found.has(key) && found.add(key));
    const names = fresh.map(parse).filter((name) => name !== null);
    if (names.length > 0) yield names;
  } while (cursor !== "0");
}
