/** The news in the address of a page, after a form was sent: a word that the tables have, or nothing. */
import type { PageContext } from "./site.js";
import { isReason, type Reason, reasonsOf } from "./texts/reasons.js";
import type { Texts } from "./texts/texts.js";

export type SaidWord = keyof Texts["said"];

export interface Said {
  readonly good: string | undefined;
  readonly bad: string | undefined;
}

export function saidOf(context: PageContext): Said {
  const { said } = context.get("texts");
  const word = context.req.query("said") ?? "";
  const reason = context.req.query("refused");
  return {
    good: Object.hasOwn(said, word) ? said[word as SaidWord] : undefined,
    bad: isReason(reason) ? refusalText(context, reason) : undefined,
  };
}

export function refusalText(context: PageContext, reason: Reason): string {
  return reasonsOf(context.get("language")).refused[reason];
}
