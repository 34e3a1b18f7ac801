/** What networks do to one process and a node. */
import type { Dice } from "../../../chance/dice.js";
import type { Link } from "../../link.js";
import type { Direction, Loss } from "../../wire.js";
import type { World } from "../../world.js";
import { lateKind } from "../plan.js";
import { type Kind, lasting, lifeOf, momentary, noValue } from "./kind.js";

/** Something done to the link of a process. */
function onLink(
  kind: string,
  most: number,
  forMs: (dice: Dice) => number,
  value: (dice: Dice) => number,
  begin: (link: Link, value: number, world: World) => (() => void) | undefined,
): Kind {
  return {
    kind,
    on: "link",
    most,
    forMs,
    value,
    begin(scene, fault) {
      const life = lifeOf(scene, fault);
      return life && begin(scene.link(life.process, scene.nodeOf(fault)), fault.value, scene.world);
    },
  };
}

function loss(kind: string, when: Loss): Kind {
  const times = (dice: Dice): number => dice.whole(1, 3);
  return onLink(kind, 4, momentary, times, (link, value) => {
    for (let i = 0; i < value; i++) link.loseNext(when);
    return undefined;
  });
}

function partition(kind: string, directions: readonly Direction[]): Kind {
  return onLink(kind, 3, lasting(50, 4_000), noValue, (link) => {
    for (const direction of directions) link.block(direction);
    return () => {
      for (const direction of directions) link.unblock(direction);
    };
  });
}

export const networkKinds: readonly Kind[] = [
  onLink(
    "delay spikes",
    2,
    lasting(500, 5_000),
    (dice) => dice.whole(20, 800),
    (link, value) => {
      link.spikes = { share: 0.3, delayMs: [value / 4, value] };
      return () => {
        link.spikes = null;
      };
    },
  ),
  onLink(
    "reorder",
    2,
    lasting(500, 5_000),
    (dice) => dice.whole(5, 200),
    (link, value) => {
      const { delayMs } = link;
      link.delayMs = [0.1, value];
      return () => {
        link.delayMs = delayMs;
      };
    },
  ),
  loss("request lost", "before"),
  loss("answer lost", "after"),
  onLink(
    lateKind,
    3,
    momentary,
    (dice) => dice.whole(20, 190),
    (link, value) => {
      link.loseNext({ lateMs: value });
      return undefined;
    },
  ),
  onLink("cut", 4, momentary, noValue, (link) => {
    link.cut();
    return undefined;
  }),
  onLink("half open", 3, momentary, noValue, (link) => {
    link.halfOpen();
    return undefined;
  }),
  partition("deaf", ["toProcess"]),
  partition("mute", ["toNode"]),
  partition("partition", ["toNode", "toProcess"]),
];

/** The process has its messages from a replica of the node, and sends its requests to the node. */
export const messagesElsewhere = onLink(
  "messages elsewhere",
  1,
  lasting(3_000, 6_000),
  noValue,
  (link, _, world) => {
    const elsewhere = world.link(link.process, world.replicaOf(link.node).node);
    link.messagesOver = elsewhere;
    link.cut();
    return () => {
      link.messagesOver = null;
      elsewhere.cut();
    };
  },
);

/** Each packet of each process takes so long, give or take a twelfth. */
export const slowNetwork: Kind = {
  kind: "slow network",
  on: "node",
  most: 1,
  forMs: lasting(4_000, 9_000),
  value: (dice) => dice.pick([50, 600]),
  begin({ world }, { value }) {
    const spreadMs = value / 12;
    world.delayMs = [value - spreadMs, value + spreadMs];
    for (const link of world.links) link.delayMs = world.delayMs;
    return () => {
      world.delayMs = null;
      for (const link of world.links) link.heal();
    };
  },
};
