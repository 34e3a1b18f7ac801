/** The command `once`: from arguments to its call. */
import type { Command } from "commander";
import { durationOption, graceOption, parseKeep, parseWait, ttlOption } from "./duration.js";
import type { Exit } from "./exit-codes.js";
import { HELP } from "./help.js";
import { settingsOf } from "./settings.js";

export function addOnce(program: Command, args: readonly string[], finish: (exit: Exit) => void): void {
  program
    .command("once")
    .summary("run a command once for a key, on all machines")
    .description("Runs COMMAND, unless it has run for KEY on any machine within --keep.")
    .usage("KEY --keep DURATION [options] -- COMMAND…\n       holdfast once KEY --forget")
    .argument("<key>", "what is done once, such as report:2026-11-22")
    .argument("[command...]", "the command, after --")
    .option("--keep <duration>", "required: how long it counts as done, or forever", parseKeep)
    .addOption(
      durationOption(
        "--wait <duration>",
        "longest wait while another one runs it: 0 is one look, or forever",
        parseWait,
        "1h",
      ),
    )
    .option("--store-failures", "a command that fails counts as done, too")
    .addOption(ttlOption())
    .addOption(graceOption())
    .option("--label <text>", "this process's name for people (default: the command's name)")
    .option("--forget", "run nothing: forget that it has run")
    .addHelpText("after", HELP.once)
    .action(async (key: string, command: string[], _: unknown, self: Command) => {
      if (key === "") self.error("error: KEY must not be empty");
      const isMarked = args[args.length - command.length - 1] === "--";
      finish(await act(key, isMarked ? command : [], command.length > 0, self));
    });
}

/** @param command empty where no -- was before it */
async function act(key: string, command: readonly string[], hasWords: boolean, self: Command): Promise<Exit> {
  const { keep, wait, storeFailures, ttl, grace, label, forget: forgets, ...rest } = self.optsWithGlobals();
  const settings = settingsOf(rest);
  const { once, forget } = await import("./commands/once.js");
  if (forgets) {
    if (hasWords) self.error("error: --forget runs no command");
    return forget(key, settings);
  }
  if (command.length === 0)
    self.error("error: put -- before the command: holdfast once KEY --keep 1d -- COMMAND…");
  if (keep === undefined) self.error("error: say how long it counts as done, such as --keep 1d");
  const times = { keepMs: keep, waitMs: wait, ttlMs: ttl, graceMs: grace };
  return once({ key, command, ...times, label, storesFailures: storeFailures === true }, settings);
}
