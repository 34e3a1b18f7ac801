/** The commands about limits, as `program.ts` has those about locks. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { LimitType } from "holdfast";
import { parseDuration } from "./duration.js";
import { HELP } from "./help.js";
import { host } from "./host.js";
import { settingsOf } from "./settings.js";

type Finish = (exitCode: number) => void;

/** By its types alone, for the command loads the library only when it is used: the compiler names a type that is missing. */
const TYPES = Object.keys({
  rolling: true,
  gcra: true,
  window: true,
  sliding: true,
  lifetime: true,
} satisfies Record<LimitType, true>);

export function addLimit(program: Command, finish: Finish): void {
  program
    .command("limit")
    .summary("charge a rate limit, or be refused")
    .description("Charges the limit NAME for TARGET, or is refused. All processes share the count.")
    .argument("<name>", "the limit: sms, login")
    .argument("<target>", "the user or address that is charged")
    .addOption(
      new Option("--max <number>", "required: the most that fits in each --per")
        .argParser(whole)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--per <duration>", "required, but for lifetime: 10s, 5m, 1h, 1d").argParser(parseDuration),
    )
    .addOption(new Option("--type <type>", "the way to count").choices(TYPES).default("rolling"))
    .addOption(
      new Option("--burst <number>", "gcra: the most that fits at once (default: --max)").argParser(whole),
    )
    .addOption(new Option("--cost <number>", "the amount to charge").argParser(whole).default(1))
    .addOption(new Option("--peek", "charge nothing, only say what would happen"))
    .addOption(
      new Option("--refund", "refund --cost, or the amount in use if that is less").conflicts("peek"),
    )
    .addHelpText("after", HELP.limit)
    .action(async (name: string, target: string, _: unknown, self: Command) => {
      const { max, per: perMs, type, burst, cost, peek, refund, ...rest } = self.optsWithGlobals();
      if (perMs === undefined && type !== "lifetime")
        self.error("error: --per is missing: only --type lifetime has none");
      const doing = peek ? "peek" : refund ? "refund" : "take";
      const { limit } = await import("./commands/limit.js");
      finish(await limit({ name, target, max, perMs, type, burst, cost, doing }, settingsOf(rest)));
    });
}

export function addLimits(program: Command, finish: Finish): void {
  const limits = program
    .command("limits")
    .summary("look at limits, or reset one")
    .description("Shows the amounts in use, by whom and until when; resets one.")
    .addHelpText("before", ({ error }) =>
      error ? "holdfast: a command is missing: ls, show or reset\n" : "",
    )
    .addHelpText("after", HELP.limits);
  limits
    .command("ls")
    .summary("list the limits that are in use")
    .description("Lists the limits that are in use, one line for each target.")
    .argument("[pattern]", "names: * is anything, ? one character, [ab] one of these", "*")
    .option("--target <pattern>", "only these targets, with the same signs", "*")
    .addHelpText("after", HELP.limitsLs)
    .action(async (pattern: string, _: unknown, self: Command) => {
      const { target, ...rest } = self.optsWithGlobals();
      const { list } = await import("./commands/limits.js");
      finish(await list({ pattern, target }, settingsOf(rest)));
    });
  limits
    .command("show")
    .summary("show the use of one limit by one target")
    .description("Shows the use of the limit NAME by TARGET.")
    .argument("<name>", "the limit")
    .argument("<target>", "the user or address")
    .addHelpText("after", HELP.limitsShow)
    .action(async (name: string, target: string, _: unknown, self: Command) => {
      const { show } = await import("./commands/limits.js");
      finish(await show(name, target, settingsOf(self.optsWithGlobals())));
    });
  limits
    .command("reset")
    .summary("reset the use of one limit by one target")
    .description("Resets the use of the limit NAME by TARGET, for every type.")
    .argument("<name>", "the limit")
    .argument("<target>", "the user or address")
    .option("-y, --yes", "do not ask")
    .addHelpText("after", HELP.limitsReset)
    .action(async (name: string, target: string, _: unknown, self: Command) => {
      const { yes, ...rest } = self.optsWithGlobals();
      if (!yes && !host().stdin.isTTY)
        self.error("error: holdfast cannot ask, because stdin is no terminal: add --yes");
      const { reset } = await import("./commands/limits.js");
      finish(await reset({ name, target, yes: yes === true }, settingsOf(rest)));
    });
}

function whole(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number.");
}
