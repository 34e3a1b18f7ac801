/** The commands of elections: from arguments to their calls. */
import type { Command } from "commander";
import { durationOption, graceOption, parseDuration, parseWait } from "./duration.js";
import type { Exit } from "./exit-codes.js";
import { HELP } from "./help.js";
import { settingsOf } from "./settings.js";

export function addElections(program: Command, args: readonly string[], finish: (exit: Exit) => void): void {
  program
    .command("elect")
    .summary("run a command while leading")
    .description("Runs COMMAND while this process leads the election NAME, and stops it when not.")
    .usage("NAME [options] -- COMMAND…")
    .argument("<name>", "the election")
    .argument("<command...>", "the command, after --")
    .addOption(
      durationOption("--term <duration>", "how long a leader leads without a renewal", parseDuration, "20s"),
    )
    .addOption(
      durationOption(
        "--wait <duration>",
        "longest wait for the lead: 0 is one try, or forever",
        parseWait,
        "forever",
      ),
    )
    .addOption(graceOption("the lead"))
    .option("--value <text>", "what others read of this leader, such as its address")
    .option("--label <text>", "this process's name for people (default: the command's name)")
    .option("--once", "exit when the lead is lost, instead of standing for election again")
    .addHelpText("after", HELP.elect)
    .action(async (name: string, command: string[], _: unknown, self: Command) => {
      if (args[args.length - command.length - 1] !== "--")
        self.error("error: put -- before the command: holdfast elect NAME -- COMMAND…");
      const { term, wait, grace, value, label, once, ...rest } = self.optsWithGlobals();
      const { elect } = await import("./commands/elect.js");
      const times = { termMs: term, waitMs: wait, graceMs: grace };
      finish(await elect({ name, command, ...times, value, label, once: once === true }, settingsOf(rest)));
    });
  program
    .command("leader")
    .summary("show who leads, and who stands for election")
    .description("Shows who leads the election NAME, and who stands for election, in order.")
    .argument("<name>", "the election")
    .option("--watch", "one line for each change, until Ctrl-C")
    .addHelpText("after", HELP.leader)
    .action(async (name: string, _: unknown, self: Command) => {
      const { watch, ...rest } = self.optsWithGlobals();
      const { leader } = await import("./commands/leader.js");
      finish(await leader({ name, watch: watch === true }, settingsOf(rest)));
    });
}
