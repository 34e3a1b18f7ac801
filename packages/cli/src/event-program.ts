/** The commands about events, and the one that begins a latch or a barrier again. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { durationOption, parseWait } from "./duration.js";
import { EVENT_HELP } from "./event-help.js";
import { HELP } from "./help.js";
import { host } from "./host.js";
import { settingsOf } from "./settings.js";

type Finish = (exitCode: number) => void;

export function addEvent(program: Command, finish: Finish): void {
  const event = program
    .command("event")
    .summary("read, set, clear and await an event")
    .description("Reads, sets, clears and awaits events, for which any number of processes wait.")
    .addHelpText("before", ({ error }) =>
      error ? "holdfast: a command is missing: get, set, clear or wait\n" : "",
    )
    .addHelpText("after", EVENT_HELP.all);
  addGet(event, finish);
  addSet(event, finish);
  event
    .command("clear")
    .summary("clear an event")
    .description("Clears the event NAME: later waits wait for the next set.")
    .argument("<name>", "the event")
    .addHelpText("after", EVENT_HELP.clear)
    .action(async (name: string, _: unknown, self: Command) => {
      const { clear } = await import("./commands/event.js");
      finish(await clear(name, settingsOf(self.optsWithGlobals())));
    });
  addWait(event, finish);
}

function addGet(event: Command, finish: Finish): void {
  event
    .command("get")
    .summary("print whether an event is set, and its data")
    .description("Prints whether the event NAME is set, its version, and the data of that set.")
    .argument("<name>", "the event")
    .option("--raw", "print only the data: text without quotes, and bytes as they are")
    .addHelpText("after", EVENT_HELP.get)
    .action(async (name: string, _: unknown, self: Command) => {
      const { raw, ...rest } = self.optsWithGlobals();
      const { get } = await import("./commands/event.js");
      finish(await get({ name, raw: raw === true }, settingsOf(rest)));
    });
}

function addSet(event: Command, finish: Finish): void {
  event
    .command("set")
    .summary("set an event, which ends every wait for it")
    .description("Sets the event NAME, which ends every wait for it, and prints the new version.")
    .argument("<name>", "the event")
    .argument("[data]", "what the waits return, as JSON; from stdin when it is -")
    .addOption(new Option("--text", "DATA is text, and not JSON"))
    .addOption(new Option("--bytes", "DATA is bytes").conflicts("text"))
    .addHelpText("after", EVENT_HELP.set)
    .action(async (name: string, data: string | undefined, _: unknown, self: Command) => {
      const { text, bytes, ...rest } = self.optsWithGlobals();
      const { set } = await import("./commands/event.js");
      const form = text ? "text" : bytes ? "bytes" : "json";
      finish(await set({ name, data, form }, settingsOf(rest)));
    });
}

function addWait(event: Command, finish: Finish): void {
  event
    .command("wait")
    .summary("wait until an event is set")
    .description("Waits until the event NAME is set, and prints what the set carried.")
    .argument("<name>", "the event")
    .addOption(
      durationOption("--wait <duration>", "longest wait: 0 is one look, or forever", parseWait, "10s"),
    )
    .addOption(
      new Option(
        "--after <version>",
        "only a set above this version, also one that was cleared since",
      ).argParser(eventVersion),
    )
    .option("--raw", "print text without quotes, and bytes as they are")
    .addHelpText("after", EVENT_HELP.wait)
    .action(async (name: string, _: unknown, self: Command) => {
      const { wait: waitMs, after, raw, ...rest } = self.optsWithGlobals();
      const { wait } = await import("./commands/event.js");
      finish(await wait({ name, waitMs, after, raw: raw === true }, settingsOf(rest)));
    });
}

export function addReset(program: Command, finish: Finish): void {
  program
    .command("reset")
    .summary("begin a latch or a barrier again")
    .description("Deletes the state of the latch or barrier NAME, so that it begins again.")
    .argument("<name>", "the latch or the barrier")
    .addOption(
      new Option("--kind <kind>", "required: what to reset")
        .choices(["latch", "barrier"])
        .makeOptionMandatory(),
    )
    .option("-y, --yes", "do not ask")
    .addHelpText("after", HELP.reset)
    .action(async (name: string, _: unknown, self: Command) => {
      const { kind, yes, ...rest } = self.optsWithGlobals();
      if (!yes && !host().stdin.isTTY)
        self.error("error: holdfast cannot ask, because stdin is no terminal: add --yes");
      const { reset } = await import("./commands/reset.js");
      finish(await reset({ kind, name, yes: yes === true }, settingsOf(rest)));
    });
}

function eventVersion(text: string): bigint {
  if (/^(0|[1-9]\d{0,15})$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Give the version as `holdfast show --kind event` prints it, or 0.");
}
