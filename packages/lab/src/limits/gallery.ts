/** The pictures of docs/guides/limits.md: every type of limit, asked the same. */
import type { LimitOptions, LimitType } from "holdfast";
import { type Admission, admissionOf } from "./admission.js";
import { drawKind, drawKinds, type Kind } from "./picture.js";

const END_S = 180;
const MAX = 10;
const PER_S = 60;
const BURST = 3;
/** No multiple of it is a time of the limits: no call meets the very moment at which something ends. */
const STEP_S = 1.03;
const BUSY_FROM_S = 50;
const CAPTION = "A call at 0 s, then about one a second from 50 s on. A disc is admitted, a stroke refused.";

interface Exhibit extends Kind {
  readonly options: LimitOptions;
}

const exhibits: readonly Exhibit[] = [
  exhibit("rolling", 2 * MAX, "In any minute less than twice 10.", "below 20"),
  exhibit("gcra", BURST + MAX, "In any minute at most the burst, 3, and 10.", "at most 13"),
  exhibit("window", 2 * MAX, "In any minute at most twice 10.", "at most 20"),
  exhibit("sliding", MAX, "In any minute at most 10.", "at most 10"),
  {
    ...exhibit("lifetime", MAX, "At most 10, ever.", "at most 10"),
    row: "lifetime, 10 ever",
    title: "lifetime, 10",
    perS: 2 * END_S,
    within: ["admitted", "so far"],
  },
];

function exhibit(type: LimitType, bound: number, promise: string, boundText: string): Exhibit {
  const isGcra = type === "gcra";
  return {
    name: type,
    row: isGcra ? `gcra, burst ${BURST}` : type,
    title: `${type}, 10 in a minute${isGcra ? `, a burst of ${BURST}` : ""}`,
    bound,
    boundText,
    promise,
    max: MAX,
    room: isGcra ? BURST : MAX,
    perS: PER_S,
    within: ["admitted in", "the last minute"],
    options: optionsOf(type),
  };
}

function optionsOf(type: LimitType): LimitOptions {
  if (type === "lifetime") return { type, max: MAX };
  const timed = { max: MAX, per: PER_S * 1_000 };
  return type === "gcra" ? { ...timed, type, burst: BURST } : { ...timed, type };
}

export interface Shown {
  readonly kind: Kind;
  readonly admission: Admission;
}

export async function playAll(): Promise<readonly Shown[]> {
  const busy = Math.floor((END_S - BUSY_FROM_S) / STEP_S) + 1;
  const callsS = [0, ...Array.from({ length: busy }, (_, place) => BUSY_FROM_S + place * STEP_S)];
  const shown: Shown[] = [];
  for (const { options, ...kind } of exhibits)
    shown.push({ kind, admission: await admissionOf(options, callsS, END_S) });
  return shown;
}

/** By the names of their files in docs/guides. */
export function picturesOf(shown: readonly Shown[]): Readonly<Record<string, string>> {
  const single = shown.map(({ kind, admission }) => [
    `limit-${kind.name}.svg`,
    drawKind(kind, admission, END_S),
  ]);
  return {
    "limit-types.svg": drawKinds("Five types, 10 in a minute each, asked the same", CAPTION, shown, END_S),
    ...Object.fromEntries(single),
  };
}
