/** Timelines that the drawings are tried on: one that everybody knows, and any number at random. */
import type { Dice } from "../../src/chance/dice.ts";
import type { Arrow, Bar, Lane, Mark, Timeline } from "../../src/timeline/timeline.ts";

/** A lease of 10 s, a pause of 12 s, a fence. */
export const pause: Timeline = {
  title: "A pause longer than the lease",
  caption: "worker-1 is paused while its lease runs out; the file refuses what it writes afterwards.",
  lanes: [
    { id: "w1", title: "worker-1", kind: "process" },
    { id: "w2", title: "worker-2", kind: "process" },
    { id: "redis", kind: "server" },
    { id: "file", kind: "resource" },
  ],
  bars: [
    { lane: "w1", fromMs: 2, toMs: 10_002, kind: "hold", label: "41", endNote: "the lease runs out" },
    { lane: "w1", fromMs: 1_000, toMs: 13_000, kind: "pause" },
    { lane: "w2", fromMs: 3, toMs: 10_004, kind: "wait" },
    { lane: "w2", fromMs: 10_004, toMs: 13_500, kind: "hold", label: "42" },
  ],
  arrows: [
    { from: "w1", to: "redis", sentMs: 0, receivedMs: 1, label: "acquire" },
    { from: "redis", to: "w1", sentMs: 1, receivedMs: 2, label: "granted 41" },
    { from: "w2", to: "redis", sentMs: 3, receivedMs: 4, label: "acquire" },
    { from: "redis", to: "w2", sentMs: 10_002, receivedMs: 10_004, label: "granted 42" },
    { from: "w1", to: "file", sentMs: 13_001, receivedMs: 13_002, label: "write 41" },
    { from: "w2", to: "redis", sentMs: 13_500, receivedMs: null, label: "release" },
  ],
  marks: [{ lane: "file", atMs: 13_002, kind: "refused", label: "the file has seen 42 and refuses 41" }],
};

const kinds = ["process", "server", "resource"] as const;
const barKinds = ["hold", "hold", "stale", "wait", "pause"] as const;
const markKinds = ["pause", "crash", "restart", "clock", "lost", "refused", "violation", "note"] as const;
const words = [
  "acquire",
  "release",
  "write, token …431",
  'a <b> & "c"',
  "renew",
  "granted",
  "\u0007",
  "straße 🔒",
];

/** Two to ten lanes, everything at any time, and much of it at the same. */
export function anyTimeline(dice: Dice): Timeline {
  const lanes = Array.from({ length: dice.whole(2, 10) }, (_, at): Lane => {
    const kind = dice.pick(kinds);
    return { id: `${kind}-${at}`, kind };
  });
  const lane = () => dice.pick(lanes).id;
  const time = () => dice.pick([1, 10, 1000]) * dice.whole(0, 40);
  const many = <Item>(most: number, one: () => Item) => Array.from({ length: dice.whole(0, most) }, one);
  return {
    title: dice.pick(words),
    caption: many(30, () => dice.pick(words)).join(" "),
    lanes,
    bars: many(12, (): Bar => {
      const fromMs = time();
      const toMs = dice.chance(0.1) ? Infinity : fromMs + time();
      return {
        lane: lane(),
        fromMs,
        toMs,
        kind: dice.pick(barKinds),
        label: dice.pick(["", "41", "…431", "a long label"]),
      };
    }),
    arrows: many(20, (): Arrow => {
      const sentMs = time();
      const receivedMs = dice.chance(0.2) ? null : sentMs + dice.whole(0, 50);
      return { from: lane(), to: lane(), sentMs, receivedMs, label: dice.pick(words) };
    }),
    marks: many(
      8,
      (): Mark => ({ lane: lane(), atMs: time(), kind: dice.pick(markKinds), label: dice.pick(words) }),
    ),
  };
}
