/** Which nodes a fault strikes where a plan has several: one of them, some, or all at one moment. */
import type { Dice } from "../../chance/dice.js";
import type { Draw, Fault, ProcessPlan } from "./plan.js";

/** A fault is at one node, or between one process and one node: what strikes several is several faults of one time. */
interface Place {
  readonly target: string;
  readonly node?: string;
}

export interface Spread {
  readonly processes: readonly ProcessPlan[];
  readonly nodes: readonly string[];
  readonly chaosMs: number;
  /** The first fault comes no earlier. */
  readonly firstMs: number;
  /** How many strike, each of which may strike several places. */
  readonly most: number;
}

/** A fault lasts for no larger share of the time. */
const longestShare = 0.6;

/** A random half of the kinds, each some times and at places of its own. */
export function drawFaultsOverNodes(dice: Dice, kinds: readonly Draw[], spread: Spread): Fault[] {
  const { chaosMs, firstMs, most } = spread;
  const strikes: Fault[][] = [];
  for (const kind of kinds) {
    if (dice.chance(0.5)) continue;
    const times = dice.whole(1, kind.most);
    for (let i = 0; i < times; i++) {
      const forMs = Math.min(kind.forMs(dice), Math.round(chaosMs * longestShare));
      const atMs = Math.round(dice.between(firstMs, Math.max(firstMs + 1, chaosMs - forMs)));
      const fault = { kind: kind.kind, atMs, forMs, value: kind.value(dice) };
      strikes.push(placesOf(dice, kind, spread).map((place) => ({ ...fault, ...place })));
    }
  }
  const kept = dice.shuffle(strikes).slice(0, most).flat();
  return kept.sort((a, b) => a.atMs - b.atMs);
}

function placesOf(dice: Dice, { on }: Draw, { processes, nodes }: Spread): Place[] {
  const names = processes.map(({ name }) => name);
  if (on === "process") return [{ target: dice.pick(names) }];
  if (on === "node") return someOf(dice, nodes).map((target) => ({ target }));
  const links = names.flatMap((target) => nodes.map((node) => ({ target, node })));
  const [process, node] = [dice.pick(names), dice.pick(nodes)];
  const shape = dice.pick(["of a process", "of a node", "any"]);
  if (shape === "of a process")
    return someOf(
      dice,
      links.filter(({ target }) => target === process),
    );
  if (shape === "of a node") return links.filter((link) => link.node === node);
  return someOf(dice, links);
}

/** Often one, sometimes all. */
function someOf<Item>(dice: Dice, items: readonly Item[]): Item[] {
  const count = dice.chance(0.5) ? 1 : dice.whole(1, items.length);
  return dice.shuffle(items).slice(0, count);
}
