/** `holdfast reset`: begins a latch or a barrier again, whatever its size. */
import { confirmed } from "../confirm.js";
import { EXIT } from "../exit-codes.js";
import { kindOf } from "../kinds/kinds.js";
import { jsonOf, note, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { withSession } from "../session.js";
import type { Settings } from "../settings.js";

export interface ResetTerms {
  readonly kind: "latch" | "barrier";
  readonly name: string;
  /** Do not ask. */
  readonly yes: boolean;
}

export function reset({ kind, name, yes }: ResetTerms, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }, signal) => {
    const { look, cells } = kindOf(kind);
    const [, state] = cells(await look(await hf.inspector(), name));
    const thing = `the ${kind} '${printable(name)}'`;
    if (state !== "unused" && !yes && !(await confirmed(`${thing}: ${state}.\nBegin it again?`, signal))) {
      note("left as it is");
      return EXIT.no;
    }
    // A delete asks for no size, and any is as good as another.
    const done = await (kind === "latch" ? hf.latch(name, 1) : hf.barrier(name, 1)).delete();
    if (settings.json) printLine(jsonOf({ kind, name, reset: done }));
    else printLine(`${thing} ${done ? "begins again" : "is not in use"}`);
    return EXIT.ok;
  });
}
