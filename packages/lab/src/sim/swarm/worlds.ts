/** Worlds: what a plan may have beside its own faults. Each is drawn with dice of its own, so that another one changes no plan. */
import { type Dice, diceFor } from "../../chance/dice.js";
import { messagesElsewhere, slowNetwork } from "./faults/network.js";
import { forbidden } from "./faults/rights.js";
import { neighbours } from "./neighbour.js";
import { type Draw, type Fault, nodeName, nodeNames, type Plan } from "./plan.js";

interface World {
  readonly name: string;
  /** Of the plans. */
  readonly share: number;
  widen(plan: Plan, dice: Dice): Plan;
}

const firstMs = 150;
/** Longer than some round trips of a slow network. */
const slowTtlMs = 6_000;
const slowMs = 9_000;
/** Time for several questions of a process, of which it asks one in 2 s, where its messages come from. */
const movedMs = 12_000;

const worlds: readonly World[] = [
  {
    name: "forbidden commands",
    share: 0.12,
    widen(plan, dice) {
      const own = dice.chance(0.5) ? [] : plan.faults;
      const some = Array.from({ length: dice.whole(1, 4) }, () => drawn(forbidden, plan, dice));
      return { ...plan, faults: inOrder([...own, ...some]) };
    },
  },
  {
    name: "a slow network",
    share: 0.05,
    widen(plan, dice) {
      const processes = plan.processes.map((process) => {
        return { ...process, callTimeoutMs: 5_000, ttlMs: Math.max(process.ttlMs, slowTtlMs) };
      });
      const slow = { kind: slowNetwork.kind, target: firstOf(plan), atMs: 1, forMs: slowMs - 1 };
      return { ...plan, processes, chaosMs: slowMs, faults: [{ ...slow, value: dice.pick([50, 600]) }] };
    },
  },
  {
    name: "a full server",
    share: 0.04,
    widen(plan, dice) {
      const full = { kind: "no memory", target: firstOf(plan), value: 0 };
      const some = Array.from({ length: dice.whole(1, 3) }, () => {
        const forMs = dice.whole(50, 2_000);
        return { ...full, forMs, atMs: dice.whole(firstMs, plan.chaosMs - forMs / 2) };
      });
      const cuts = Array.from({ length: dice.whole(0, 4) }, () => {
        const target = dice.pick(plan.processes).name;
        return { kind: "cut", target, value: 0, forMs: 0, atMs: dice.whole(firstMs, plan.chaosMs) };
      });
      return { ...plan, faults: inOrder([...some, ...cuts]) };
    },
  },
  {
    name: "a neighbour",
    share: 0.05,
    widen: (plan, dice) => ({ ...plan, neighbour: dice.pick(neighbours) }),
  },
  {
    name: "messages from a replica",
    share: 0.05,
    widen(plan, dice) {
      const chaosMs = Math.max(plan.chaosMs, movedMs);
      const node = dice.pick(nodeNames(plan));
      const some = dice.shuffle([...plan.processes]).slice(0, dice.whole(1, 2));
      const atMs = dice.whole(firstMs, chaosMs / 4);
      const { kind } = messagesElsewhere;
      const moved = some.map(({ name }) => {
        return { kind, target: name, node, atMs, forMs: messagesElsewhere.forMs(dice), value: 0 };
      });
      const failover = { kind: "failover", target: node, atMs, forMs: 0, value: dice.whole(1, 100) };
      const isFailover = dice.chance(0.5) && plan.nodes === undefined;
      const faults = [...plan.faults, ...(isFailover ? [failover] : []), ...moved];
      return { ...plan, chaosMs, faults: inOrder(faults) };
    },
  },
  {
    name: "a wall clock that is taken back",
    share: 0.04,
    widen(plan, dice) {
      const there = { kind: "wall clock of a process", target: dice.pick(plan.processes).name, forMs: 0 };
      const steps = Array.from({ length: dice.whole(1, 3) }, () => {
        const atMs = dice.whole(firstMs, plan.chaosMs);
        const value = dice.pick([-3_600_000, -2_000, 2_000, 3_600_000]);
        const back = { ...there, atMs: atMs + dice.whole(5, 3_000), value: -value };
        return [{ ...there, atMs, value }, back];
      });
      return { ...plan, faults: inOrder([...plan.faults, ...steps.flat()]) };
    },
  },
  {
    name: "processes that freeze",
    share: 0.05,
    widen(plan, dice) {
      const [first] = plan.processes;
      if (!first) return plan;
      const processes = Array.from({ length: 6 }, (_, place) => ({
        ...(plan.processes[place] ?? first),
        name: `p${place + 1}`,
        closesAtMs: null,
      }));
      const faults = processes.slice(1).map(({ name }) => {
        return { kind: "pause", target: name, value: 0, forMs: 12_000, atMs: dice.whole(firstMs, 3_000) };
      });
      return { ...plan, processes, faults: inOrder(faults), chaosMs: 16_000 };
    },
  },
];

/** The plan with the worlds that its seed draws. */
export function widen(plan: Plan): Plan {
  return worlds.reduce<Plan>(
    (wide, { name, share, widen }) => {
      const dice = diceFor(plan.seed, `${name} of ${plan.workload}`);
      if (!dice.chance(share)) return wide;
      return { ...widen(wide, dice), worlds: [...(wide.worlds ?? []), name] };
    },
    { ...plan, worlds: [] },
  );
}

function drawn(kind: Draw, plan: Plan, dice: Dice): Fault {
  const forMs = Math.min(kind.forMs(dice), plan.chaosMs / 2);
  const atMs = Math.round(dice.between(firstMs, Math.max(firstMs + 1, plan.chaosMs - forMs)));
  return { kind: kind.kind, atMs, forMs, target: dice.pick(nodeNames(plan)), value: kind.value(dice) };
}

function firstOf(plan: Plan): string {
  return nodeNames(plan)[0] ?? nodeName;
}

function inOrder(faults: readonly Fault[]): Fault[] {
  return [...faults].sort((a, b) => a.atMs - b.atMs);
}
