/** The command line: from arguments to the call of one command. Each command is loaded when it is called. */
import { readFileSync } from "node:fs";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { candidatesFor } from "./completion/candidates.js";
import { completionScript, SHELLS, type Shell } from "./completion/scripts.js";
import { durationOption, graceOption, parseDuration, parseWait, ttlOption } from "./duration.js";
import { addElections } from "./election-program.js";
import { addEvent, addReset } from "./event-program.js";
import type { Exit } from "./exit-codes.js";
import { HELP } from "./help.js";
import { host } from "./host.js";
import { KIND_NAMES } from "./kinds/names.js";
import { addLanes } from "./lanes-program.js";
import { addLimit, addLimits } from "./limit-program.js";
import { addOnce } from "./once-program.js";
import { printLine } from "./output/output.js";
import { printable } from "./output/text.js";
import { addQueue } from "./queue-program.js";
import { addRecord } from "./record-program.js";
import { maxTtlOption, quarantineOption, settingOptions, settingsOf } from "./settings.js";
import { addSignal } from "./signal-program.js";

const LEAST_INTERVAL_MS = 50;

/** @param finish takes how the command ended that ran. */
export function buildProgram(args: readonly string[], json: boolean, finish: (exit: Exit) => void): Command {
  const program = new Command("holdfast")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host().stdout.write(text),
      writeErr: (text) => json || host().stderr.write(text),
      outputError: (text, write) => write(named(text)),
    })
    .description("Locks with leases and fencing tokens, rate limits and records, from the command line.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this text")
    .helpCommand("help [command]", "print the help of a command")
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .showHelpAfterError("(holdfast --help lists the commands, holdfast COMMAND --help its options)")
    .addHelpText("after", HELP.program);
  for (const option of settingOptions()) program.addOption(option);
  addLock(program, args, finish);
  addLooks(program, finish);
  addRelease(program, finish);
  addPermits(program, finish);
  addElections(program, args, finish);
  addOnce(program, args, finish);
  addLimit(program, finish);
  addLimits(program, finish);
  addRecord(program, finish);
  addEvent(program, finish);
  addReset(program, finish);
  addSignal(program, finish);
  addQueue(program, finish);
  addLanes(program, finish);
  addDoctor(program, finish);
  addEmbedded(program, finish);
  addLab(program, finish);
  addCompletion(program);
  return program;
}

function addLock(program: Command, args: readonly string[], finish: (exit: Exit) => void): void {
  program
    .command("lock")
    .summary("run a command while holding a lock")
    .description("Runs COMMAND while holding the lock NAME, and releases it.")
    .usage("NAME [options] -- COMMAND…")
    .argument("<name>", "the lock")
    .argument("<command...>", "the command, after --")
    .addOption(ttlOption())
    .addOption(
      durationOption(
        "--wait <duration>",
        "longest wait for the lock: 0 is one try, or forever",
        parseWait,
        "10s",
      ),
    )
    .addOption(graceOption())
    .addOption(
      new Option("--permits <number>", "one of so many permits: at most this number of commands at a time")
        .argParser(permitCount)
        .conflicts(["read", "write"]),
    )
    .addOption(new Option("--read", "beside other readers, and no writer").conflicts("write"))
    .option("--write", "beside no reader and no other writer")
    .option("--label <text>", "the holder's name for people (default: the command's name)")
    .addOption(maxTtlOption())
    .addOption(quarantineOption())
    .addHelpText("after", HELP.lock)
    .action(async (name: string, command: string[], _: unknown, self: Command) => {
      if (args[args.length - command.length - 1] !== "--")
        self.error("error: put -- before the command: holdfast lock NAME -- COMMAND…");
      const { ttl, wait, grace, label, permits, read, write, ...rest } = self.optsWithGlobals();
      const { lock } = await import("./commands/lock.js");
      const side = read ? "read" : write ? "write" : "mutex";
      const noun =
        permits === undefined ? ({ noun: side } as const) : ({ noun: "semaphore", permits } as const);
      const terms = { name, noun, command, ttlMs: ttl, waitMs: wait, graceMs: grace, label };
      finish(await lock(terms, settingsOf(rest)));
    });
}

function addLooks(program: Command, finish: (exitCode: number) => void): void {
  const pattern = "names: * is anything, ? one character, [ab] one of these";
  program
    .command("ls")
    .summary("list the locks that are held or waited for")
    .description("Lists the locks that are held or waited for, or things of another --kind.")
    .argument("[pattern]", pattern, "*")
    .addOption(kindOption())
    .option("-a, --all", "also free locks that were held in the last 24 hours")
    .addOption(maxTtlOption())
    .addOption(quarantineOption())
    .addHelpText("after", HELP.ls)
    .action(async (names: string, _: unknown, self: Command) => {
      const { kind, all, ...rest } = self.optsWithGlobals();
      if (all && kind !== "lock") self.error("error: --all is for locks");
      const { list } = await import("./commands/look.js");
      finish(await list({ kind, pattern: names, all: all === true }, settingsOf(rest)));
    });
  program
    .command("show")
    .summary("show one lock: its holder, and its waiters in order")
    .description("Shows one lock, its holder and its waiters in order, or a thing of another --kind.")
    .argument("<name>", "the lock")
    .addOption(kindOption())
    .addOption(maxTtlOption())
    .addOption(quarantineOption())
    .addHelpText("after", HELP.show)
    .action(async (name: string, _: unknown, self: Command) => {
      const { kind, ...rest } = self.optsWithGlobals();
      const { show } = await import("./commands/look.js");
      finish(await show(kind, name, settingsOf(rest)));
    });
  program
    .command("watch")
    .summary("watch locks as they change")
    .description("Shows locks as they change, until q or Ctrl-C; one line a change if not on a terminal.")
    .argument("[pattern]", `a name, or ${pattern}`, "*")
    .addOption(kindOption())
    .addOption(durationOption("--interval <duration>", "time between two looks", parseDuration, "1s"))
    .addOption(maxTtlOption())
    .addOption(quarantineOption())
    .addHelpText("after", HELP.watch)
    .action(async (names: string, _: unknown, self: Command) => {
      const { kind, interval, ...rest } = self.optsWithGlobals();
      if (interval < LEAST_INTERVAL_MS)
        self.error(`error: --interval must be ${LEAST_INTERVAL_MS}ms or more`);
      const { watch } = await import("./commands/watch.js");
      finish(await watch({ kind, pattern: names, intervalMs: interval }, settingsOf(rest)));
    });
}

function kindOption(): Option {
  return new Option("--kind <kind>", "what to show").choices(KIND_NAMES).default("lock");
}

function addRelease(program: Command, finish: (exitCode: number) => void): void {
  program
    .command("release")
    .summary("take a lock from its holder")
    .description("Takes a lock from its holder and gives it to the first in line.")
    .argument("<name>", "the lock")
    .option("--force", "required: by right only the holder releases")
    .option("--fence <token>", "only if the holder has this fence; or which of several holders", fenceToken)
    .addOption(
      new Option("--kind <kind>", "what is taken").choices(["lock", "semaphore", "rwlock"]).default("lock"),
    )
    .option("-y, --yes", "do not ask")
    .addOption(maxTtlOption())
    .addOption(quarantineOption())
    .addHelpText("after", HELP.release)
    .action(async (name: string, _: unknown, self: Command) => {
      const { force, fence, yes, kind, ...rest } = self.optsWithGlobals();
      if (!force) self.error("error: only its holder releases a lock; --force takes it from the holder");
      if (!yes && !host().stdin.isTTY)
        self.error("error: holdfast cannot ask, because stdin is no terminal: add --yes");
      const { release } = await import("./commands/release.js");
      finish(await release({ kind, name, fence, yes: yes === true }, settingsOf(rest)));
    });
}

function addPermits(program: Command, finish: (exitCode: number) => void): void {
  program
    .command("permits")
    .summary("change how many permits a semaphore has")
    .description("Changes the number of permits of the semaphore NAME, for all processes.")
    .argument("<name>", "the semaphore")
    .argument("<number>", "the number from now on; default: what the programs say", permitNumber)
    .addHelpText("after", HELP.permits)
    .action(async (name: string, number: number | null, _: unknown, self: Command) => {
      const { setPermits } = await import("./commands/permits.js");
      finish(await setPermits(name, number, settingsOf(self.optsWithGlobals())));
    });
}

function addDoctor(program: Command, finish: (exitCode: number) => void): void {
  program
    .command("doctor")
    .summary("look for what puts locks at risk on this server")
    .description("Looks for what puts locks at risk: settings of the server, permissions, clocks.")
    .option("--accept <codes>", "accepted findings, which do not count: CODE,CODE…", findingCodes)
    .addOption(maxTtlOption())
    .addOption(quarantineOption())
    .addHelpText("after", HELP.doctor)
    .action(async (_: unknown, self: Command) => {
      const { accept = [], ...rest } = self.optsWithGlobals();
      const { doctor } = await import("./commands/doctor.js");
      finish(await doctor(accept, settingsOf(rest)));
    });
}

function addEmbedded(program: Command, finish: (exitCode: number) => void): void {
  program
    .command("embedded")
    .summary("run a Valkey in memory until Ctrl-C")
    .description("Runs a real Valkey in this process, in memory, and prints its URL.")
    .addOption(new Option("--port <number>", "port, 0 for a free one").argParser(portNumber).default(6379))
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--max-memory <size>", "most memory for data, 1mb to 3gb", "256mb")
    .addHelpText("after", HELP.embedded)
    .action(async (_: unknown, self: Command) => {
      const { port, host, maxMemory, json } = self.optsWithGlobals();
      const { embedded } = await import("./commands/embedded.js");
      finish(await embedded({ port, host, maxMemory }, json === true));
    });
}

function addLab(program: Command, finish: (exitCode: number) => void): void {
  program
    .command("lab")
    .summary("see locks go wrong, and holdfast hold, in virtual time")
    .description("Lists the experiments, or runs some: naive recipes beside holdfast under the same faults.")
    .argument("[experiments...]", "their numbers: 3 or D3")
    .option("--all", "run every one, briefly")
    .option("--real", "D1 only: with real processes and SIGSTOP")
    .option("--naive-only", "leave holdfast's side out")
    .addOption(new Option("--seed <number>", "the seed of all chance").argParser(seedNumber).default(1))
    .option("--out <folder>", "the folder for the pages (default: a new temporary one)")
    .addHelpText("after", HELP.lab)
    .action(async (names: string[], _: unknown, self: Command) => {
      const { all, real, naiveOnly, seed, out, json } = self.optsWithGlobals();
      if (real && !(names.length === 1 && /^[dD]?0?1$/.test(names[0] ?? "")))
        self.error("error: --real is for experiment 1");
      const runs = ["seed", "out", "naiveOnly"].some((option) => self.getOptionValueSource(option) === "cli");
      if (all ? names.length > 0 : runs && names.length === 0)
        self.error("error: give an experiment, or --all");
      const { lab } = await import("./commands/lab.js");
      const flags = {
        real: real === true,
        all: all === true,
        naiveOnly: naiveOnly === true,
        json: json === true,
      };
      finish(await lab({ names, seed, out, ...flags }));
    });
}

function addCompletion(program: Command): void {
  program
    .command("completion")
    .summary("print the completion script of a shell")
    .description("Prints the script that completes commands, options and lock names at Tab.")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .addHelpText("after", HELP.completion)
    .action((shell: Shell) => {
      host().stdout.write(completionScript(shell));
    });
  program
    .command("complete", { hidden: true })
    .description("Prints one candidate a line, with its description after a tab.")
    .argument("[words...]", "the words up to the cursor, after --")
    .action(async (words: string[]) => {
      const { knownNames } = await import("./completion/names.js");
      for (const { value, description } of await candidatesFor(program, words, (wanted) =>
        knownNames(words, wanted),
      ))
        printLine(`${value}\t${description}`);
    });
}

/** Every complaint begins with the name of the program. It quotes what was typed, or pasted. */
function named(text: string): string {
  return text
    .replace(/^error: /, "holdfast: ")
    .split("\n")
    .map(printable)
    .join("\n");
}

function permitCount(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 1 on.");
}

/** Null: that of the programs. */
function permitNumber(text: string): number | null {
  if (text === "default") return null;
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 0 on, or default.");
}

function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 0 to 65535.");
}

function seedNumber(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= 4_294_967_295) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 0 to 4294967295.");
}

/** May be given several times. */
function findingCodes(text: string, before: readonly string[] = []): readonly string[] {
  const codes = text.split(",");
  if (codes.every((code) => /^[a-z]+(-[a-z]+)*$/.test(code))) return [...before, ...codes];
  throw new InvalidArgumentError("Give the codes as doctor prints them, such as persistence,replication.");
}

function fenceToken(text: string): bigint {
  if (/^[1-9]\d{0,15}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError("Give the fence as `holdfast show` prints it.");
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
