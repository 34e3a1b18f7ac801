/** Places: where a server keeps each message, read between two scripts. Each is in one place, and its body beside it. */
import type { Node } from "../../node.js";
import type { Scene } from "../workload.js";

/** @param misplaced what contradicts the places, where no part of them is lost; null: nothing */
export function judgePlaces(scene: Scene, rule: string, misplaced: () => string | null): void {
  const wrong = scene.hasForgotten ? null : misplaced();
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
