/** A failed run as a space-time diagram, around what is wrong in it. */
import type { Operation } from "../../history/operation.js";
import type { Breach } from "../../history/violation.js";
import { timelineOf } from "../../timeline/from-history.js";
import { drawSvg } from "../../timeline/svg.js";
import { drawText } from "../../timeline/text.js";
import type { Outcome } from "./run.js";

export interface Picture {
  readonly text: string;
  readonly svg: string;
}

/** Before and after what went wrong. */
const beforeMs = 1_500;
const afterMs = 400;

/** The first failure of the run. @throws {RangeError} nothing failed */
export function pictureOf({ plan, failures, operations }: Outcome, columns?: number): Picture {
  const [failure] = failures;
  if (!failure) throw new RangeError("there is no failure to draw");
  const { property, message, atMs } = failure;
  const fromMs = Math.max(0, Math.min(atMs - beforeMs, ...failure.operations.map(({ invMs }) => invMs)));
  const span = { fromMs, toMs: atMs + afterMs };
  const first = operations.find(({ process }) => process !== "nemesis");
  const key = failure.operations[0]?.key ?? first?.key ?? "";
  const violation: Breach = {
    property,
    key,
    operations: failure.operations,
    message,
    atMs,
  };
  const shown = operations.filter((operation) => isAbout(operation, key));
  const title = `Seed ${plan.seed} of ${plan.workload}: ${property} is broken`;
  const showsCalls = plan.workload !== "mutex";
  const options = { title, caption: message, violations: [violation], span, showsCalls };
  const timeline = timelineOf(shown, options);
  return { text: drawText(timeline, columns === undefined ? {} : { columns }), svg: drawSvg(timeline) };
}

function isAbout({ key, process }: Operation, name: string): boolean {
  return process === "nemesis" || key === name || key === `${name} register`;
}
