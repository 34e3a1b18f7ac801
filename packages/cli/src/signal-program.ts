/** The commands about signals, as `program.ts` has those about locks. */
import { type Command, Option } from "commander";
import { durationOption, parseWait } from "./duration.js";
import { HELP } from "./help.js";
import { settingsOf } from "./settings.js";

type Finish = (exitCode: number) => void;

export function addSignal(program: Command, finish: Finish): void {
  const signal = program
    .command("signal")
    .summary("wake those who wait, and wait")
    .description("Wakes those who wait for a name, in all processes, and waits for such a signal.")
    .addHelpText("before", ({ error }) => (error ? "holdfast: a command is missing: emit or wait\n" : ""))
    .addHelpText("after", HELP.signal);
  addEmit(signal, finish);
  addWait(signal, finish);
}

function addEmit(signal: Command, finish: Finish): void {
  signal
    .command("emit")
    .summary("wake everybody who waits for a name, or one of them")
    .description("Wakes everybody who waits for NAME, and prints how many that were.")
    .argument("<name>", "the signal")
    .argument("[data]", "JSON that they get; - for stdin (default: none)")
    .option("--one", "wake exactly one, chosen at random")
    .addOption(new Option("--text", "DATA is text, and not JSON"))
    .addOption(new Option("--bytes", "DATA is bytes").conflicts("text"))
    .addHelpText("after", HELP.signalEmit)
    .action(async (name: string, data: string | undefined, _: unknown, self: Command) => {
      const { one, text, bytes, ...rest } = self.optsWithGlobals();
      const { emit } = await import("./commands/signal.js");
      const form = text ? "text" : bytes ? "bytes" : "json";
      finish(await emit({ name, data, form, isOne: one === true }, settingsOf(rest)));
    });
}

function addWait(signal: Command, finish: Finish): void {
  signal
    .command("wait")
    .summary("wait for a signal, and print its data")
    .description("Waits for the first signal of any NAME, and prints its data as JSON.")
    .argument("<name...>", "the signals")
    .addOption(new Option("--all", "wait until each of them came once"))
    .addOption(
      new Option(
        "--matching",
        "NAME is a pattern: * is anything, ? one character, [ab] one of these",
      ).conflicts("all"),
    )
    .addOption(durationOption("--wait <duration>", "longest wait, or forever", parseWait, "10s"))
    .option("--raw", "print text without quotes, and bytes as they are")
    .addHelpText("after", HELP.signalWait)
    .action(async (names: string[], _: unknown, self: Command) => {
      const { all, matching, wait: waitMs, raw, ...rest } = self.optsWithGlobals();
      if (matching && names.length > 1) self.error("error: --matching takes one pattern");
      const how = all ? "all" : matching ? "matching" : "any";
      const { wait } = await import("./commands/signal.js");
      finish(await wait({ names, how, waitMs, raw: raw === true }, settingsOf(rest)));
    });
}
