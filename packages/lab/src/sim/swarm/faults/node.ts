/** What happens to the server and its data. */
import type { NodeCopy } from "@holdfast/embedded";
import type { Dice } from "../../../chance/dice.js";
import type { Node } from "../../node.js";
import type { Scene } from "../scene.js";
import { type Kind, lasting, momentary, noValue } from "./kind.js";

const dayMs = 86_400_000;

/** A node that a fault strikes. */
interface Struck {
  readonly scene: Scene;
  readonly node: Node;
}

function onNode(
  kind: string,
  most: number,
  forMs: (dice: Dice) => number,
  value: (dice: Dice) => number,
  begin: (struck: Struck, value: number, forMs: number) => (() => void) | undefined,
): Kind {
  return {
    kind,
    on: "node",
    most,
    forMs,
    value,
    begin: (scene, fault) => begin({ scene, node: scene.nodeOf(fault) }, fault.value, fault.forMs),
  };
}

function refuse(error: string): Kind {
  return {
    kind: `${error.split(" ", 1)[0]} answers`,
    on: "node",
    most: 1,
    strikesLater: true,
    forMs: lasting(50, 3_000),
    value: (dice) => dice.pick([0.3, 1]),
    begin(scene, fault) {
      let isMet = false;
      const struck = (): void => {
        if (!isMet) scene.struck(fault);
        isMet = true;
      };
      const node = scene.nodeOf(fault);
      node.refusal = { error, share: fault.value, struck };
      return () => {
        node.refusal = null;
      };
    },
  };
}

/** Its data is lost, or as good as. */
function lose({ scene, node }: Struck, act: () => void): void {
  if (!node.isUp) return;
  scene.dataLost(node);
  scene.excuseOverlap(node);
  act();
  scene.clockWasSet(node);
}

/** Falls back by `value` ms: the copy was taken when it was due, unless the node was down. */
function fallBack(kind: string, act: (struck: Struck, copy: NodeCopy) => void): Kind {
  return {
    kind,
    on: "node",
    most: 1,
    forMs: momentary,
    value: (dice) => dice.whole(1, 3_000),
    begin(scene, fault) {
      const copy = scene.copies.get(fault);
      const struck = { scene, node: scene.nodeOf(fault) };
      if (copy) lose(struck, () => act(struck, copy));
      return undefined;
    },
  };
}

/** What a clock may be set by: most are small, some are mad. */
function stepOf(dice: Dice): number {
  const size = dice.pick([1, 10, 100, 1_000, 5_000, 31_000, 3_600_000, 25 * 3_600_000, 365 * dayMs]);
  return dice.chance(0.5) ? size : -size;
}

/** Before a clock is set back: of the keys that a clock of tomorrow ended, those come back at which nobody has looked. */
function tearIfAhead({ scene, node }: Struck): void {
  if (node.valkey.clock.errorMs > dayMs / 2) scene.torn.add(node);
}

function stepClock({ scene, node }: Struck, deltaMs: number): void {
  if (deltaMs > 0) scene.excuseOverlap(node);
  // Everything of a day ago is forgotten, as well as younger data.
  if (deltaMs > dayMs / 2) scene.dataLost(node);
  if (deltaMs < 0) tearIfAhead({ scene, node });
  node.valkey.clock.step(deltaMs);
  scene.clockWasSet(node);
}

export const nodeKinds: readonly Kind[] = [
  onNode("node pause", 2, lasting(20, 4_000), noValue, ({ node }) => {
    node.pause();
    return () => node.resume();
  }),
  onNode(
    "node crash",
    1,
    lasting(0, 3_000),
    (dice) => dice.whole(0, 1),
    ({ scene, node }, isSilent, forMs) => {
      if (!node.isUp) return undefined;
      scene.dataLostByRestart(node, forMs);
      node.crash(isSilent ? "silent" : "loud");
      return () => {
        node.restart();
        scene.clockWasSet(node);
      };
    },
  ),
  fallBack("rollback", ({ node }, copy) => node.promote(copy, node.valkey.clock.errorMs)),
  fallBack("failover", ({ scene, node }, copy) => {
    const dice = scene.world.dice(`failover at ${copy.atUs}`);
    tearIfAhead({ scene, node });
    node.promote(copy, dice.pick([0, 0, -20, 20, -5_000, 5_000, -20_000, 20_000]));
  }),
  onNode("clock step", 3, momentary, stepOf, (struck, value) => {
    stepClock(struck, value);
    return undefined;
  }),
  onNode(
    "clock rate",
    1,
    lasting(500, 6_000),
    (dice) => dice.pick([0.5, 0.9, 0.995, 1.005, 1.1, 2]),
    ({ scene, node }, rate, forMs) => {
      const { clock } = node.valkey;
      if (rate > 1.009) scene.excuseOverlap(node, { forMs });
      clock.rate = rate;
      scene.clockChanged();
      return () => {
        clock.rate = 1;
        scene.clockChanged();
      };
    },
  ),
  onNode(
    "eviction",
    2,
    momentary,
    (dice) => dice.whole(0, 3),
    (struck, which) => {
      const { scene, node } = struck;
      const groups = scene.evictable(node);
      const group = groups[which % groups.length];
      if (!group) return undefined;
      const evict = (): void => {
        for (const key of group.keys) node.peek("DEL", key);
        scene.torn.add(node);
      };
      if (group.isData) lose(struck, evict);
      else evict();
      return undefined;
    },
  ),
  onNode("flushall", 1, momentary, noValue, (struck) => {
    lose(struck, () => struck.node.peek("FLUSHALL"));
    return undefined;
  }),
  onNode("script flush", 2, momentary, noValue, ({ node }) => {
    node.peek("SCRIPT", "FLUSH");
    return undefined;
  }),
  onNode(
    "clients killed",
    2,
    momentary,
    (dice) => dice.whole(0, 1),
    ({ node }, which) => {
      node.peek("CLIENT", "KILL", "TYPE", which ? "pubsub" : "normal", "SKIPME", "yes");
      return undefined;
    },
  ),
  onNode("no memory", 1, lasting(50, 3_000), noValue, ({ node }) => {
    node.peek("CONFIG", "SET", "maxmemory", "1");
    return () => node.peek("CONFIG", "SET", "maxmemory", "0");
  }),
  ...[
    "LOADING the server is starting",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "READONLY You can't write against a read only replica.",
    "BUSY the server is busy running a script.",
    "MISCONF the server cannot save its data.",
    "NOPERM this user has no permissions to run the command.",
  ].map(refuse),
];
