/** `holdfast lanes watch`: where a ticket stands, until it is over. */
import type { LaneOutcome, WatchedPlace } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { outcomeText, placeText } from "../output/lanes.js";
import { jsonOf, note, noteEvent, printLine } from "../output/output.js";
import { Progress } from "../output/progress.js";
import { shownValue } from "../output/values.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";
import { nowText } from "../time.js";

export interface WatchTerms {
  readonly name: string;
  readonly ticket: string;
  readonly everyMs: number;
}

/** @returns 1 when it is a dead letter, or was cancelled. A signal ends the command as one that has no answer. */
export async function watch({ name, ticket, everyMs }: WatchTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  const end = new AbortController();
  const live = new Progress(host().stdout, !settings.json, 0);
  let ignoreBreaks = (): void => {};
  host().stdout.once("error", () => end.abort()); // The reader of the output is gone.
  try {
    return await interruptible(async (signal) => {
      signal.addEventListener("abort", () => end.abort(), { once: true });
      await session.connect(signal);
      ignoreBreaks = session.onBreak(() => {
        const trouble = session.away();
        if (!trouble || end.signal.aborted) return;
        live.end();
        if (settings.json) noteEvent({ at: nowText(), event: "trouble", message: trouble.message });
        else note(trouble.message);
      });
      const places = session.hf.lanes(name).watch(ticket, { every: everyMs, signal: end.signal });
      for await (const place of places) {
        tell({ name, ticket }, place, live, settings);
        if (place.outcome) return exitOf(place.outcome);
      }
      signal.throwIfAborted();
      return EXIT.ok;
    });
  } finally {
    live.end();
    ignoreBreaks(); // The end of the connection is meant now.
    await session.close();
  }
}

function tell(of: object, place: WatchedPlace, live: Progress, { json }: Settings): void {
  const { outcome } = place;
  if (json)
    printLine(jsonOf({ at: nowText(), ...of, ...place, ...(outcome && { outcome: forJson(outcome) }) }));
  else if (outcome) {
    live.end();
    printLine(live.shows ? outcomeText(outcome) : `${nowText()} ${outcomeText(outcome)}`);
  } else if (live.shows) live.show(placeText(place));
  else printLine(`${nowText()} ${placeText(place)}`);
}

function forJson(outcome: LaneOutcome): object {
  if (outcome.status !== "done") return outcome;
  const { result, ...rest } = outcome;
  return { ...rest, ...shownValue(result) };
}

function exitOf({ status }: LaneOutcome): number {
  return status === "dead" || status === "cancelled" ? EXIT.no : EXIT.ok;
}
