/** Places: where a server keeps each message and each request, read between two scripts. Each is in one place, with what belongs to it. */
import type { Node } from "../../node.js";
import type { Scene } from "../workload.js";

/** @param misplaced what contradicts the places, where no key was evicted alone; null: nothing */
export function judgePlaces(scene: Scene, rule: string, misplaced: () => string | null): void {
  const wrong = scene.torn.has(scene.node) ? null : misplaced();
  if (wrong !== null) scene.fail(rule, wrong);
}

/** The answers to these commands as texts; null: the node is down. */
export function readAll(
  node: Node,
  commands: readonly (readonly string[])[],
): readonly (readonly string[])[] | null {
  const found = node.peekAll(...commands);
  if (found.length < commands.length) return null;
  return found.map((reply) => (Array.isArray(reply) ? reply : [reply]).map((one) => String(one ?? "")));
}

/** The keys of locks/backends/redis/lua/_waiters.lua, and those that gave up. */
export interface LineKeys {
  readonly line: string;
  readonly waiters: string;
  readonly banned: string;
}

/** What contradicts the places of a line; null: nothing. @param isFlagged whether its lock says that it may have a line */
export function misplacedInLine(node: Node, keys: LineKeys, isFlagged: boolean): string | null {
  const all = readAll(node, [
    ["ZRANGE", keys.line, "0", "-1"],
    ["HKEYS", keys.waiters],
    ["EXISTS", keys.banned],
  ]);
  if (!all) return null;
  const [line = [], waiters = [], [areBanned] = []] = all;
  const loose = onlyInOne(line, waiters);
  if (loose !== undefined) return `the request ${loose} has a place or a record alone`;
  const isCrowded = line.length > 0 || areBanned === "1";
  return isCrowded && !isFlagged ? `nothing says that ${keys.line} has anybody` : null;
}

/** What is in the list more than once; undefined: nothing. */
export function twiceIn(list: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return list.find((one) => seen.size === seen.add(one).size);
}

/** What only one of the two lists has; undefined: they have the same. */
export function onlyInOne(some: readonly string[], others: readonly string[]): string | undefined {
  const [left, right] = [new Set(some), new Set(others)];
  return some.find((one) => !right.has(one)) ?? others.find((one) => !left.has(one));
}
