/** The options of a name that a program gives more than once: two sets would make it a matter of chance which of them counts. */
import { InvalidArgumentError } from "../errors.js";
import type { DeliveryKind } from "../redis/keys.js";
import { show } from "../time/duration.js";

export interface OptionsAgain<Settings> {
  readonly kind: DeliveryKind;
  readonly name: string;
  /** Of the first options. */
  readonly known: Settings;
  /** Of those that are given now. */
  readonly settings: Settings;
  readonly options: object;
  /** The options of this noun alone whose settings have other names. */
  readonly optionOf: Readonly<Partial<Record<keyof Settings, string>>>;
}

/** As `optionOf`, of the options that queues and lanes have in common. */
const SHARED_OPTION_OF = { deadlineMs: "deadline", keepResultsMs: "keepResults" };

/** @throws {InvalidArgumentError} */
export function checkSame<Settings extends object>(again: OptionsAgain<Settings>): void {
  const { kind, name, known, settings } = again;
  const optionOf: Readonly<Record<string, string>> = { ...SHARED_OPTION_OF, ...again.optionOf };
  const options = again.options as Readonly<Record<string, unknown>>;
  const others = (Object.keys(settings) as (keyof Settings & string)[])
    .filter((key) => JSON.stringify(known[key]) !== JSON.stringify(settings[key]))
    .map((key) => ({ key, option: optionOf[key] ?? key }));
  // An option that the caller gave says more than one that has its default.
  const found = others.find(({ option }) => options[option] !== undefined) ?? others[0];
  if (!found) return;
  const { key, option } = found;
  const given = options[option];
  throw new InvalidArgumentError(
    option,
    `of the ${kind} '${name}' is ${given === undefined ? "the default" : show(given)} here, and ${earlier(key, known[key])} ` +
      `in an earlier hf.${kind}() of this program: make one object and export it, or leave the options out`,
  );
}

/** The setting as its option would say it. */
function earlier(key: string, setting: unknown): string {
  if (typeof setting === "number") return key.endsWith("Ms") ? `${setting} ms` : String(setting);
  return typeof setting === "string" ? show(setting) : "another";
}
