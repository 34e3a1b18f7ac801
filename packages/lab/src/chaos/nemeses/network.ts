/**
 * What happens on the way to the server. Bytes that are lost take their connection with them: TCP sends again what a
 * network loses, so a stream with a hole in it is something that no program ever sees.
 */
import type { FaultProxy } from "@holdfast/conformance";
import { pauseMs, settledIn } from "../time.js";
import { always, type Nemesis, type Strike } from "./nemesis.js";

const KINDS = ["commands", "inbox", undefined] as const;
const WAIT_MS = 400;

/** Where the worker has no proxy, it is spared. */
function onWay(
  kind: string,
  strike: (proxy: FaultProxy, strike: Strike) => Promise<string>,
  weight = 1,
): Nemesis {
  return {
    kind,
    victim: "way",
    weight,
    whyNot: always,
    strike: async (about) =>
      about.slot.proxy ? strike(about.slot.proxy, about) : "nothing: no proxy on this way",
  };
}

const which = (kind: string | undefined) => kind ?? "both connections";

export const cut = onWay("cut", async (proxy, { dice }) => {
  const kind = dice.pick(KINDS);
  proxy.cut(kind);
  return `RST on ${which(kind)}`;
});

/** The server carries out what was asked; the answer is lost, and the connection with it. */
export const swallow = onWay(
  "swallow-reply",
  async (proxy, { dice }) => {
    const kind = dice.pick(KINDS);
    proxy.forget();
    proxy.set({ down: "drop" }, kind);
    try {
      await settledIn(
        proxy.when("an answer that is lost", () => proxy.dropped("down") > 0).catch(() => {}),
        WAIT_MS,
      );
    } finally {
      proxy.cut(kind);
      proxy.heal();
    }
    return `answers lost, then RST, on ${which(kind)}`;
  },
  2,
);

export const refuse = onWay("refuse", async (proxy, { dice, scene }) => {
  const forMs = dice.between(0.1, 1.5) * scene.ttlMs;
  proxy.refuse();
  await pauseMs(forMs);
  proxy.heal();
  return `no connections for ${Math.round(forMs)} ms`;
});

export const hold = onWay(
  "hold",
  async (proxy, { dice, scene }) => {
    const kind = dice.pick(KINDS);
    const direction = dice.pick(["up", "down"] as const);
    const forMs = dice.between(0.1, 1.8) * scene.ttlMs;
    proxy.set({ [direction]: "hold" }, kind);
    await pauseMs(forMs);
    if (dice.chance(0.3)) proxy.cut(kind);
    proxy.heal();
    return `bytes ${direction} held for ${Math.round(forMs)} ms on ${which(kind)}`;
  },
  2,
);

export const delay = onWay("delay", async (proxy, { dice }) => {
  const kind = dice.pick(KINDS);
  const downDelayMs = Math.round(dice.between(5, 250));
  proxy.set({ downDelayMs }, kind);
  await pauseMs(dice.between(200, 1_500));
  proxy.heal();
  return `answers ${downDelayMs} ms late on ${which(kind)}`;
});

/** Commands of a connection that is no more arrive all the same, long after their sender gave up. */
export const strand = onWay("strand", async (proxy, { dice, scene }) => {
  proxy.set({ up: "hold" });
  await pauseMs(dice.between(0.05, 0.8) * scene.ttlMs);
  proxy.strand();
  const lateMs = dice.between(0.1, 2) * scene.ttlMs;
  await pauseMs(lateMs);
  await proxy.deliverStranded().catch(() => {}); // the server may have died meanwhile
  return `commands delivered ${Math.round(lateMs)} ms after their connection broke`;
});

export const partition: Nemesis = {
  kind: "one-way-drop",
  victim: "link",
  weight: 2,
  whyNot: ({ link }) => (link ? null : "no network namespaces"),
  async strike({ scene, dice }) {
    const what = dice.pick(["requests", "replies", "both"] as const);
    const forMs = dice.between(0.2, 2) * scene.ttlMs;
    scene.link?.lose(what);
    try {
      await pauseMs(forMs);
    } finally {
      scene.link?.heal();
    }
    return `packets with ${what === "both" ? "requests and replies" : what} lost for ${Math.round(forMs)} ms`;
  },
};
