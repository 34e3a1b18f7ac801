/** `holdfast limit NAME TARGET`: takes of a limit, looks at it, or gives back. */
import type { Limit, LimitOptions, LimitResult, LimitType } from "holdfast";
import { showDuration } from "../duration.js";
import { EXIT } from "../exit-codes.js";
import { interruptible } from "../interrupt.js";
import { jsonOf, printLine } from "../output/output.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";

export interface LimitTerms {
  readonly name: string;
  readonly target: string;
  readonly max: number;
  readonly perMs: number | undefined;
  readonly type: LimitType;
  readonly burst: number | undefined;
  readonly cost: number;
  readonly doing: "take" | "peek" | "refund";
}

export async function limit(terms: LimitTerms, settings: Settings): Promise<number> {
  const { name, target, max, perMs: per, type, burst, cost, doing } = terms;
  const session = newSession(settings);
  try {
    // Options that do not go together are refused by the library, in its own words.
    const asked: Limit = session.hf.limit(name, { max, per, type, burst } as LimitOptions);
    const result = await interruptible(async (signal) => {
      await session.connect(signal);
      return asked[doing](target, cost);
    });
    if (settings.json) printLine(jsonOf({ name, target, ...result }));
    else printLine(toldOf(doing, result));
    return doing === "refund" || result.ok ? EXIT.ok : EXIT.busy;
  } finally {
    await session.close();
  }
}

function toldOf(doing: LimitTerms["doing"], { ok, remaining, retryAfterMs }: LimitResult): string {
  const left = `${remaining} left`;
  if (doing === "refund") return `refunded: ${left}`;
  const would = doing === "peek" ? "would be " : "";
  if (ok) return `${would}allowed: ${left}`;
  const when = retryAfterMs === null ? "this cost never fits" : `try again in ${showDuration(retryAfterMs)}`;
  return `${would}refused: ${left}, ${when}`;
}
