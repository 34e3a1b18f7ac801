/** `holdfast record watch`: one line for each state of a record. */
import type { RecordChange } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { jsonOf, note, noteEvent, printLine } from "../output/output.js";
import { shownValue, valueText } from "../output/values.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";
import { nowText } from "../time.js";
import type { RecordTerms } from "./record.js";

export async function watch({ name, tag }: RecordTerms, settings: Settings): Promise<number> {
  const session = newSession(settings);
  const end = new AbortController();
  host().stdout.once("error", () => end.abort()); // The reader of the output is gone.
  let isAway = false;
  try {
    return await interruptible(async (signal) => {
      signal.addEventListener("abort", () => end.abort(), { once: true });
      await session.connect(signal);
      session.onBreak(() => {
        const trouble = session.away();
        if (isAway || !trouble || end.signal.aborted) return;
        isAway = true;
        if (settings.json) noteEvent({ at: nowText(), event: "trouble", message: trouble.message });
        else note(trouble.message);
      });
      for await (const change of session.hf.record(name, { tag }).watch({ signal: end.signal })) {
        isAway = false;
        printLine(settings.json ? jsonOf({ at: nowText(), name, ...forJson(change) }) : told(change));
      }
      return EXIT.ok;
    });
  } finally {
    await session.close();
  }
}

function forJson(change: RecordChange<unknown> | null): object {
  const { value = null, version = 0n } = change ?? {};
  return { exists: change !== null, ...shownValue(value), version };
}

function told(change: RecordChange<unknown> | null): string {
  return `${nowText()} ${change ? `${change.version} ${valueText(change.value)}` : "no value"}`;
}
