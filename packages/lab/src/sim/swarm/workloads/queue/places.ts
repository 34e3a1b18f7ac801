/** Where the server keeps the messages of a queue: the keys of queues/lua/_queue.lua. */
import type { Node } from "../../../node.js";
import { onlyInOne, readAll, twiceIn } from "../places.js";

/** What contradicts the places; null: nothing. */
export function misplaced(node: Node, main: string): string | null {
  const all = readAll(node, [
    ["LRANGE", `${main}:line`, "0", "-1"],
    ["HKEYS", `${main}:off`],
    ["ZRANGE", `${main}:away`, "0", "-1"],
    ["ZRANGE", `${main}:later`, "0", "-1"],
    ["ZRANGE", `${main}:again`, "0", "-1"],
    ["ZRANGE", `${main}:dead`, "0", "-1"],
    ["HKEYS", `${main}:letters`],
  ]);
  if (!all) return null;
  const [line = [], off = [], away = [], later = [], again = [], dead = [], letters = []] = all;
  const kept = [...away, ...later, ...again];
  const waiting = line.filter((_, place) => place % 2 === 0);
  const twice = twiceIn([...waiting, ...kept.map((member) => member.split(":")[1] ?? member), ...dead]);
  if (twice !== undefined) return `message ${twice} is in two places`;
  const loose = onlyInOne(kept, off);
  if (loose !== undefined) return `${loose} has a body or a place alone`;
  const unread = onlyInOne([...dead, ...dead.map((number) => `why:${number}`)], letters);
  return unread === undefined ? null : `the letter ${unread} is not whole`;
}
