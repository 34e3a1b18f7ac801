/** Where the server keeps the permits of a name: the keys of locks/backends/redis/permits/lua/_permits.lua. */
import type { Node } from "../../../node.js";
import { misplacedInLine, readAll } from "../places.js";

/** What contradicts the places; null: nothing. */
export function misplaced(node: Node, main: string): string | null {
  const [fields = []] = readAll(node, [["HGETALL", main]]) ?? [];
  let [used, isFlagged, sum] = ["0", false, 0n];
  for (let place = 0; place < fields.length; place += 2) {
    const [field, words] = [fields[place], (fields[place + 1] ?? "").split(" ")];
    if (field === ".") [used, isFlagged] = [words[4] ?? "", words[1] === "1"];
    else sum += BigInt(words[1] ?? 0);
  }
  if (used !== String(sum)) return `${used} permits of ${main} are said to be out, and ${sum} are`;
  const keys = { line: `${main}:line`, waiters: `${main}:waiters`, banned: `${main}:banned` };
  return misplacedInLine(node, keys, isFlagged);
}
