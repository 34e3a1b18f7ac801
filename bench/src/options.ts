/** The command line, and nothing else: from the arguments to one checked object. */
import { resolve } from "node:path";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { isBuiltClone } from "./contestants/before.js";
import type { ContestantName } from "./contestants/contestant.js";
import { roster } from "./contestants/roster.js";
import type { QuestionId } from "./result.js";

export interface BenchOptions {
  readonly questions: readonly QuestionId[];
  readonly rounds: number;
  readonly seconds: number;
  readonly only: readonly ContestantName[] | null;
  /** Folder of another clone, which is built. */
  readonly against: string | null;
  readonly json: boolean;
  readonly save: boolean;
  /** Folder of the dated results. */
  readonly out: string;
}

const IDS: readonly QuestionId[] = [
  ...(["l1", "l2", "l3", "l3p", "l4", "l5", "l6", "l6c", "s1", "s2", "r1", "r2"] as const),
  ...(["q1", "q2", "q3"] as const),
  ...(["signals", "records", "election", "once", "standing", "first-lease"] as const),
];

const ROUNDS = 5;
/** A difference of a few percent is less than what rounds differ by. */
const ROUNDS_AGAINST = 15;

const DETAILS = `
Questions (all of them without an argument):
  l1    what an acquire and a release cost when nobody else wants the name
  l2    one hot lock, 32 callers in one process
  l3    one hot lock, 8 callers in each of 4 processes, with a counter under it
  l3p   one hot lock, one caller in each of 8 processes
  l4    how long a lock takes from one process to another
  l5    what 5,000 and 50,000 held leases cost
  l6    what an acquire and a release cost over 3 and over 5 independent servers
  l6c   one hot lock over 5 independent servers, 2 callers in each of 4 processes
  s1    a semaphore of 8 permits, 64 callers in one process and in 4
  s2    a read-write lock, 64 callers of whom nine in ten read
  r1    what a check of a limit costs that admits, alone and three at once
  r2    what a check costs that refuses
  q1    how many messages of a queue are pushed, and consumed safely, in a second
  q2    how long a message takes from the push to its handler in another process
  q3    the same as q1 with 10,000 lanes
  signals
        how long a signal or an event takes to a waiter in another process
  records
        what updates by many, reads, writes and a hundred writes at once cost
  election
        how long there is no leader after one resigned or died
  once  what it costs to carry out work once for a key
  standing
        what 1, 10 and 100 processes ask of a server that hold, wait and stand idle
  first-lease
        how long a new process takes to its first lease, and what the import does

Contestants for --only:
  ${Object.keys(roster).join(", ")}

Examples:
  npm run bench
  npm run bench -- l1 --rounds 5 --seconds 2
  npm run bench -- l1 l2 --only holdfast,floor,redis-semaphore --no-save
  npm run --silent bench -- first-lease --json
  npm run bench -- l1 q1 --against ../before --no-save

With --against, every holdfast has a twin, "before", in the same rounds, and the
only question is whether it has become slower, by its rate or by its CPU time:
each is the median of the ratios of rounds. Against this clone itself it shows
how much the machine scatters. What could not be measured ends it with 1.

Needs a redis-server on PATH (or named in HOLDFAST_REDIS_SERVER), which it starts
for itself on a free port. Close other programs first: the figures are ratios
within one run, yet a busy machine widens them. Exit codes: 0 measured, whatever
the figures; 1 broken; 64 wrong arguments; 69 no redis-server; 130 Ctrl-C.
`;

function between(least: number, most: number, whole: boolean): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (text.trim() !== "" && number >= least && number <= most && (!whole || Number.isInteger(number)))
      return number;
    throw new InvalidArgumentError(`Give a ${whole ? "whole number" : "number"} from ${least} to ${most}.`);
  };
}

function contestants(text: string): readonly ContestantName[] {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !Object.hasOwn(roster, name));
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no ${unknown}.`);
  return names as ContestantName[];
}

function builtClone(text: string): string {
  const folder = resolve(text);
  if (text.trim() !== "" && isBuiltClone(folder)) return folder;
  throw new InvalidArgumentError("It is no clone that is built: run `npm run build` there.");
}

/** Prints the help or what is wrong and throws a CommanderError, which carries commander's exit code. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const command = new Command("npm run bench --")
    .description(
      "holdfast beside the locks, limits and queues that one would pick instead, and beside the floor",
    )
    .helpOption("-h, --help", "print this text")
    .addArgument(new Argument("[questions...]", "which of them").choices(IDS))
    .option("--rounds <count>", "slices of each contestant (default: 5)", between(1, 1_000, true))
    .option("--seconds <number>", "length of a slice", between(0.05, 20, false), 1)
    .addOption(new Option("--only <names>", "these contestants, commas between").argParser(contestants))
    .addOption(
      new Option(
        "--against <folder>",
        "holdfast alone, beside the library of another built clone; --rounds is 15 then",
      ).argParser(builtClone),
    )
    .option("--json", "print JSON instead of the tables")
    .option("--out <folder>", "where the dated results go", "bench/results")
    .option("--no-save", "write no files")
    .addHelpText("after", DETAILS)
    .showHelpAfterError("(npm run bench -- --help lists the options)")
    .exitOverride();
  command.parse(args, { from: "user" });
  const given = command.opts();
  const [chosen = []] = command.processedArgs as [QuestionId[]?];
  return {
    questions: chosen.length > 0 ? IDS.filter((id) => chosen.includes(id)) : IDS,
    rounds: given["rounds"] ?? (given["against"] === undefined ? ROUNDS : ROUNDS_AGAINST),
    seconds: given["seconds"],
    only: given["only"] ?? null,
    against: given["against"] ?? null,
    json: given["json"] === true,
    save: given["save"] !== false,
    out: given["out"],
  };
}
