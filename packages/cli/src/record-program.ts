/** The commands about records, as `program.ts` has those about locks. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "./duration.js";
import { HELP } from "./help.js";
import { host } from "./host.js";
import { settingsOf } from "./settings.js";

type Finish = (exitCode: number) => void;

export function addRecord(program: Command, finish: Finish): void {
  const record = program
    .command("record")
    .summary("read, write and watch values that have a version")
    .description("Reads, writes and watches records: values in Redis that have a version.")
    .addHelpText("before", ({ error }) =>
      error ? "holdfast: a command is missing: get, put, delete, watch or ls\n" : "",
    )
    .addHelpText("after", HELP.record);
  addGet(record, finish);
  addPut(record, finish);
  addDelete(record, finish);
  addWatch(record, finish);
  addList(record, finish);
}

function addGet(record: Command, finish: Finish): void {
  record
    .command("get")
    .summary("print the value of a record")
    .description("Prints the value of the record NAME as JSON. Bytes are printed as base64.")
    .argument("<name>", "the record")
    .addOption(tagOption())
    .option("--raw", "print text without quotes, and bytes as they are")
    .addHelpText("after", HELP.recordGet)
    .action(async (name: string, _: unknown, self: Command) => {
      const { tag, raw, ...rest } = self.optsWithGlobals();
      const { get } = await import("./commands/record.js");
      finish(await get({ name, tag, raw: raw === true }, settingsOf(rest)));
    });
}

function addPut(record: Command, finish: Finish): void {
  record
    .command("put")
    .summary("write the value of a record")
    .description("Writes VALUE, which is JSON, into the record NAME, and prints the new version.")
    .argument("<name>", "the record")
    .argument("[value]", "the value; from stdin when it is left out, or -")
    .addOption(ifVersion("write"))
    .addOption(
      new Option("--keep <duration>", "time until the record expires (default: never)").argParser(
        parseDuration,
      ),
    )
    .addOption(tagOption())
    .addOption(new Option("--text", "VALUE is text, and not JSON"))
    .addOption(new Option("--bytes", "VALUE is bytes").conflicts("text"))
    .addHelpText("after", HELP.recordPut)
    .action(async (name: string, value: string | undefined, _: unknown, self: Command) => {
      const { ifVersion: version, keep: keepMs, tag, text, bytes, ...rest } = self.optsWithGlobals();
      if ((value ?? "-") === "-" && host().stdin.isTTY)
        self.error("error: VALUE is missing: give it as an argument, or through stdin");
      const { put } = await import("./commands/record.js");
      const form = text ? "text" : bytes ? "bytes" : "json";
      finish(await put({ name, value: value ?? "-", form, version, keepMs, tag }, settingsOf(rest)));
    });
}

function addDelete(record: Command, finish: Finish): void {
  record
    .command("delete")
    .summary("delete the value of a record")
    .description("Deletes the value of the record NAME. Its versions go on rising.")
    .argument("<name>", "the record")
    .addOption(ifVersion("delete"))
    .addOption(tagOption())
    .option("-y, --yes", "do not ask")
    .addHelpText("after", HELP.recordDelete)
    .action(async (name: string, _: unknown, self: Command) => {
      const { ifVersion: version, tag, yes, ...rest } = self.optsWithGlobals();
      if (!yes && !host().stdin.isTTY)
        self.error("error: holdfast cannot ask, because stdin is no terminal: add --yes");
      const { remove } = await import("./commands/record.js");
      finish(await remove({ name, version, tag, yes: yes === true }, settingsOf(rest)));
    });
}

function addWatch(record: Command, finish: Finish): void {
  record
    .command("watch")
    .summary("print a record now, and whenever it changes")
    .description("Prints the record NAME now, and whenever it changes, until Ctrl-C.")
    .argument("<name>", "the record")
    .addOption(tagOption())
    .addHelpText("after", HELP.recordWatch)
    .action(async (name: string, _: unknown, self: Command) => {
      const { tag, ...rest } = self.optsWithGlobals();
      const { watch } = await import("./commands/record-watch.js");
      finish(await watch({ name, tag }, settingsOf(rest)));
    });
}

function addList(record: Command, finish: Finish): void {
  record
    .command("ls")
    .summary("list the records")
    .description("Lists the records, with the beginning of their values.")
    .argument("[pattern]", "names: * is anything, ? one character, [ab] one of these", "*")
    .option("--tag <pattern>", "only records of these tags, with the same signs")
    .option("-a, --all", "also records that were deleted and keep a version or a fence")
    .addHelpText("after", HELP.recordLs)
    .action(async (pattern: string, _: unknown, self: Command) => {
      const { tag, all, ...rest } = self.optsWithGlobals();
      const { list } = await import("./commands/record.js");
      finish(await list({ pattern, tag, all: all === true }, settingsOf(rest)));
    });
}

function tagOption(): Option {
  return new Option("--tag <tag>", "the tag of the record, when its program gives one");
}

function ifVersion(verb: string): Option {
  const description = `${verb} only if the record has this version; 0: only if it has no value`;
  return new Option("--if-version <version>", description).argParser(recordVersion);
}

function recordVersion(text: string): bigint {
  if (/^(0|[1-9]\d{0,15})$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Give the version as `holdfast record get --json` prints it, or 0.");
}
