/** `holdfast permits NAME NUMBER`: changes the number of permits of a semaphore. */
import { EXIT } from "../exit-codes.js";
import { jsonOf, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { withSession } from "../session.js";
import type { Settings } from "../settings.js";

/** @param number null: that of the options of the next request */
export function setPermits(name: string, number: number | null, settings: Settings): Promise<number> {
  return withSession(settings, async ({ hf }) => {
    // The number of the options is not used.
    await hf.semaphore(name, { permits: 1 }).setPermits(number);
    if (settings.json) printLine(jsonOf({ semaphore: name, permits: number }));
    else
      printLine(
        `'${printable(name)}' has ${number === null ? "the permits that its programs say" : `${number} permits`} from now on`,
      );
    return EXIT.ok;
  });
}
