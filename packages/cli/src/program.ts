/** The command line: from arguments to the call of one command. Each command is loaded when it is called. */
import { readFileSync } from "node:fs";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { candidatesFor } from "./completion/candidates.js";
import { completionScript, SHELLS, type Shell } from "./completion/scripts.js";
import { parseDuration, parseWait } from "./duration.js";
import { HELP } from "./help.js";
import { printLine } from "./output/output.js";
import { settingOptions, settingsOf } from "./settings.js";

/** @param finish takes the exit code of the command that ran. */
export function buildProgram(
  args: readonly string[],
  json: boolean,
  finish: (exitCode: number) => void,
): Command {
  const program = new Command("holdfast")
    .exitOverride()
    .configureOutput(json ? { writeErr: () => {} } : {})
    .description("Locks with leases and fencing tokens, from the command line.")
    .version(version(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this text")
    .helpCommand("help [command]", "print the help of a command")
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .showHelpAfterError("(holdfast --help lists the commands, holdfast COMMAND --help its options)")
    .addHelpText("after", HELP.program);
  for (const option of settingOptions()) program.addOption(option);
  addLock(program, args, finish);
  addEmbedded(program, finish);
  addCompletion(program);
  return program;
}

function addLock(program: Command, args: readonly string[], finish: (exitCode: number) => void): void {
  program
    .command("lock")
    .summary("run a command while holding a lock")
    .description("Runs COMMAND while holding the lock NAME, and releases it.")
    .usage("NAME [options] -- COMMAND…")
    .argument("<name>", "the lock")
    .argument("<command...>", "what to run, after --")
    .addOption(
      duration("--ttl <duration>", "life of the lease when this process falls silent", parseDuration, "30s"),
    )
    .addOption(
      duration("--wait <duration>", "longest wait for the lock: 0 for one try, or forever", parseWait, "10s"),
    )
    .addOption(
      duration("--grace <duration>", "from SIGTERM to SIGKILL when the lease is lost", parseDuration, "10s"),
    )
    .option("--label <text>", "who holds, for people (default: the command's name)")
    .addHelpText("after", HELP.lock)
    .action(async (name: string, command: string[], _: unknown, self: Command) => {
      if (args[args.length - command.length - 1] !== "--")
        self.error("error: put -- before the command: holdfast lock NAME -- COMMAND…");
      const { ttl, wait, grace, label, ...rest } = self.optsWithGlobals();
      const { lock } = await import("./commands/lock.js");
      const terms = { name, command, ttlMs: ttl, waitMs: wait, graceMs: grace, label };
      finish(await lock(terms, settingsOf(rest)));
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

function addCompletion(program: Command): void {
  program
    .command("completion")
    .summary("print the completion script of a shell")
    .description("Prints the script that completes commands, options and lock names at Tab.")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .addHelpText("after", HELP.completion)
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell));
    });
  program
    .command("complete", { hidden: true })
    .description("What the scripts ask: one candidate a line, with its description after a tab.")
    .argument("[words...]", "the words up to the cursor, after --")
    .action(async (words: string[]) => {
      for (const { value, description } of await candidatesFor(program, words))
        printLine(`${value}\t${description}`);
    });
}

function duration(
  flags: string,
  description: string,
  parse: (text: string) => number,
  byDefault: string,
): Option {
  return new Option(flags, description).argParser(parse).default(parse(byDefault), byDefault);
}

function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("Give a whole number from 0 to 65535.");
}

function version(): string {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
