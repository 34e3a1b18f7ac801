/** The signs for what happens at one moment: each has its own shape, so that colour is not needed. */
import type { Mark } from "./timeline.js";

const tones = {
  ...{ pause: "fault", crash: "fault", restart: "plain", clock: "fault", lost: "fault" },
  ...{ refused: "good", violation: "bad", note: "plain" },
} as const;

/** Around 0,0, 18 wide. */
const shapes: Readonly<Record<Mark["kind"], { readonly around: string; readonly inside: string }>> = {
  pause: { around: circle(), inside: "M-3 -4V4M3 -4V4" },
  crash: { around: circle(), inside: "M-4 -4L4 4M-4 4L4 -4" },
  restart: { around: circle(), inside: "M4 -2A4.5 4.5 0 1 0 4 3M4.5 -6V-1.5H0" },
  clock: { around: circle(), inside: "M0 -5V0L4 2" },
  lost: { around: "M0 -10L10 0L0 10L-10 0Z", inside: "M-3 0H3" },
  refused: { around: "M-8 -8H8V1C8 6 4 9 0 11C-4 9 -8 6 -8 1Z", inside: "M-4 0H4" },
  violation: { around: "M0 -11L11 8H-11Z", inside: "M0 -5V1M0 4V5" },
  note: { around: "M-3 0A3 3 0 1 0 3 0A3 3 0 1 0 -3 0Z", inside: "" },
};

export const meanings: Readonly<Record<Mark["kind"], string>> = {
  pause: "is paused",
  crash: "crashed",
  restart: "started again",
  clock: "clock set",
  lost: "lease lost",
  refused: "refused by the fence",
  violation: "a rule is broken",
  note: "",
};

export function drawMark(kind: Mark["kind"], x: number, y: number): string {
  const { around, inside } = shapes[kind];
  const tone = `is-${tones[kind]}`;
  return (
    `<g transform="translate(${x} ${y})"><path class="mark ${tone}" d="${around}"/>` +
    `<path class="mark-line ${tone}" d="${inside}"/></g>`
  );
}

function circle(): string {
  return "M-9 0A9 9 0 1 0 9 0A9 9 0 1 0 -9 0Z";
}
