/** Picture: the moments around a violation as a space-time diagram, so that people can see what a checker says. */
import type { Operation } from "../history/operation.js";
import { type Breach, ms } from "../history/violation.js";
import type { Band, Bar, Lane, Mark, Timeline } from "../timeline/timeline.js";
import type { Fault } from "./fault.js";
import type { Round } from "./round.js";

const BEFORE_MS = 150;
const AFTER_MS = 60;
/** Longer ago it is another story. */
const LONGEST_MS = 2_000;
/** What fits on a page beside each other. */
const MOST_LANES = 5;
const MOST_BARS = 20;
/** Who holds or is about to hold when it happens. */
const CLOSE_MS = 30;

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

export function pictureOf(violation: Breach, { history, faults, seed }: Round): Timeline {
  const { operations: theirs, key, atMs } = violation;
  const firstMs = Math.min(atMs, ...theirs.map(({ invMs }) => invMs));
  const window = { fromMs: Math.max(firstMs, atMs - LONGEST_MS) - BEFORE_MS, toMs: atMs + AFTER_MS };
  const near = history.operations.filter(
    (one) => one.key === key && one.process.match(/[.-]\d+$/) && touches(window, one.invMs, endOf(one)),
  );
  const then = { fromMs: atMs - CLOSE_MS, toMs: atMs + CLOSE_MS };
  const others = near.filter((one) => one.f === "hold" && touches(then, one.invMs, endOf(one)));
  const first = theirs.map(({ process }) => process);
  const processes = [...new Set([...first, ...others.map(({ process }) => process)])].slice(0, MOST_LANES);
  const lanes: Lane[] = processes.map((id) => ({ id, kind: "process" }));
  const shown = near.filter(
    ({ process, f }) => processes.includes(process) && (f !== "acquire" || first.includes(process)),
  );
  const around = faults.filter((fault) => touches(window, fault.fromMs, fault.toMs));
  return {
    title: `${violation.property}: "${key}", seed ${seed}`,
    caption: violation.message,
    lanes: [...lanes, { id: "server", kind: "server" }],
    bars: [...barsOf(shown, window), ...pausesOf(around, processes, window)].slice(0, MOST_BARS),
    marks: [
      ...shown.flatMap(marksOf),
      { lane: theirs.at(-1)?.process ?? "server", atMs, kind: "violation", label: violation.message },
      ...around.flatMap((fault) => happenings(fault, window)),
    ],
    bands: around.flatMap((fault) => bandOf(fault, window)),
  };
}

function endOf({ f, endMs, retMs }: Operation): number {
  return (f === "hold" ? endMs : undefined) ?? retMs ?? Infinity;
}

function touches({ fromMs, toMs }: Window, beganMs: number, endedMs: number): boolean {
  return beganMs <= toMs && endedMs >= fromMs;
}

function barsOf(operations: readonly Operation[], { fromMs }: Window): Bar[] {
  return operations.flatMap((one): Bar[] => {
    const { process: lane, f, invMs, token } = one;
    const span = { lane, fromMs: Math.max(invMs, fromMs), toMs: endOf(one) };
    if (f === "hold") return [{ ...span, kind: "hold", label: shortToken(token) }];
    const isWait = f === "acquire" && span.toMs - invMs > 20;
    return isWait ? [{ ...span, kind: "wait", note: "", endNote: "" }] : [];
  });
}

/** The end of it tells tokens of one run apart. */
function shortToken(token: bigint | undefined): string {
  return token === undefined ? "" : `…${String(token).slice(-6)}`;
}

function pausesOf(faults: readonly Fault[], processes: readonly string[], { toMs }: Window): Bar[] {
  return faults
    .filter(({ kind }) => kind === "worker-pause")
    .flatMap((fault) =>
      processes
        .filter((process) => process.replace(/[#.].*/, "") === fault.target)
        .map((lane) => ({
          lane,
          fromMs: fault.fromMs,
          toMs: Math.min(fault.toMs, toMs),
          kind: "pause" as const,
        })),
    );
}

function marksOf({ f, type, process: lane, retMs, invMs, token, error }: Operation): Mark[] {
  if ((f === "write" || f === "enter") && type === "fail") {
    const label = `${f} with ${shortToken(token)} refused: ${error}`;
    return [{ lane, atMs: retMs ?? invMs, kind: "refused", label }];
  }
  return [];
}

/** What took no time to speak of. */
function happenings({ kind, target, detail, fromMs, toMs }: Fault, window: Window): Mark[] {
  if (kind === "worker-pause" || toMs - fromMs > 20 || fromMs < window.fromMs) return [];
  const mark = kind.includes("clock") ? "clock" : "note";
  return [{ lane: "server", atMs: fromMs, kind: mark, label: `${kind}, ${target}: ${detail}` }];
}

function bandOf({ kind, target, detail, fromMs, toMs }: Fault, window: Window): Band[] {
  if (kind === "worker-pause" || toMs - fromMs <= 20) return [];
  const span = { fromMs: Math.max(fromMs, window.fromMs), toMs: Math.min(toMs, window.toMs) };
  return [{ ...span, kind: "fault", label: `${kind}, ${target}: ${detail} (${ms(toMs - fromMs)})` }];
}
