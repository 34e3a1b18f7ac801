/** The command line, and nothing else: from the arguments to one checked object. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import type { Way } from "./domain/batch.js";

export interface Options {
  readonly servers: number;
  readonly workers: number;
  /** Null: boot the embedded engine. */
  readonly redisUrl: string | null;
  /** Null: boot PGlite. */
  readonly postgresUrl: string | null;
  readonly port: number;
  /** Null: the address of each request. */
  readonly publicUrl: string | null;
  readonly trustProxy: boolean;
  readonly seed: number;
  readonly students: number;
  /** Let all students grab at the same second, and print what came of it. */
  readonly load: boolean;
  readonly ways: readonly Way[];
  readonly json: boolean;
  /** Null: no report. */
  readonly reportFile: string | null;
}

const WAYS: readonly Way[] = ["locks", "lanes"];

const DETAILS = `
Without --load, the application stays open until Ctrl-C. It prints its address and
accounts to sign in with. The first batch is open already, the others follow, one
each minute. Batches decide in turns under locks and in lanes.

With --load, 4,000 students grab at the same second through the real web servers,
first under locks, then in lanes. A web server and a worker are killed with SIGKILL
on the way. The run then checks the data: no bed given twice, no student with two
rooms, no team torn apart, no answer lost.

Examples:
  npm run dormitory
  npm run dormitory -- --port 3000 --seed 7
  npm run dormitory -- --load
  npm run dormitory -- --load --students 400 --ways lanes --json
  npm run dormitory -- --redis redis://127.0.0.1:6379 --postgres postgres://localhost/dormitory

With both --redis and --postgres the data stays, and the next start goes on with it.
With one of them, and in a load run, keys and tables have names of their own and are
deleted in the end.
Exit codes: 0 as promised; 1 the load run broke a promise, or a program failed;
64 wrong arguments; 69 Redis, PostgreSQL or the port not available; 130 Ctrl-C.
`;

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

function url(pattern: RegExp, example: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text) && URL.canParse(text)) return text;
    throw new InvalidArgumentError(`Give a URL such as ${example}.`);
  };
}

function wayList(text: string): readonly Way[] {
  const names = text.split(",").map((name) => name.trim());
  const known = WAYS.filter((way) => names.includes(way));
  if (known.length === names.length) return known;
  throw new InvalidArgumentError(`Choose from ${WAYS.join(", ")}, each once.`);
}

/** Only the default's folder is made: in a path that was typed, a missing folder is more likely a slip. */
function reportPath(text: string): string {
  const path = resolve(text);
  const isFolder = (name: string): boolean =>
    statSync(name, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (!isFolder(dirname(path))) throw new InvalidArgumentError(`There is no folder ${dirname(path)}.`);
  if (isFolder(path)) throw new InvalidArgumentError(`${path} is a folder: name a file in it.`);
  return path;
}

function build(): Command {
  return new Command("npm run dormitory --")
    .description("Students choose dormitory rooms in batches, thousands at the same second.")
    .helpOption("-h, --help", "print this text")
    .option("--servers <count>", "web server processes", wholeNumber(1, 64), 4)
    .option("--workers <count>", "selection worker processes", wholeNumber(1, 64), 2)
    .option(
      "--redis <url>",
      "use this Redis or Valkey instead of the embedded one",
      url(/^rediss?:\/\/[^/]/, "redis://127.0.0.1:6379"),
    )
    .option(
      "--postgres <url>",
      "use this PostgreSQL instead of the embedded one",
      url(/^postgres(ql)?:\/\//, "postgres://user@127.0.0.1:5432/dormitory"),
    )
    .option("--port <number>", "port of the web servers; 0 takes a free one", wholeNumber(0, 65_535), 8_080)
    .option(
      "--public-url <url>",
      "the address that browsers see, behind a proxy; https makes cookies secure",
      url(/^https?:\/\/[^/]/, "https://rooms.example.org"),
    )
    .option("--trust-proxy", "behind one proxy: believe the X-Forwarded-For that it sends")
    .option(
      "--seed <number>",
      "of the students, rooms, wishes and passwords",
      wholeNumber(0, 2_147_483_647),
      1,
    )
    .option("--students <count>", "students in all, in 20 batches", wholeNumber(20, 20_000), 4_000)
    .option("--load", "let all students grab at the same second, then check the data")
    .addOption(
      new Option("--ways <names>", "ways of the load run, with commas between")
        .argParser(wayList)
        .default(WAYS, WAYS.join(",")),
    )
    .option("--json", "with --load: print one line of JSON instead of the table")
    .option("--report <file>", "with --load: where to write the report", reportPath, "reports/dormitory.html")
    .option("--no-report", "with --load: write no report")
    .addHelpText("after", DETAILS)
    .allowExcessArguments(false)
    .showHelpAfterError("(npm run dormitory -- --help lists the options)");
}

/** Prints the help or what is wrong and throws a CommanderError, which carries commander's exit code. */
export function parseOptions(args: readonly string[]): Options {
  const command = build().exitOverride();
  const given = command.parse(args, { from: "user" }).opts();
  if (given["json"] && !given["load"]) command.error("error: --json goes with --load");
  return {
    servers: given["servers"],
    workers: given["workers"],
    redisUrl: given["redis"] ?? null,
    postgresUrl: given["postgres"] ?? null,
    port: given["port"],
    publicUrl: given["publicUrl"] ?? null,
    trustProxy: given["trustProxy"] === true,
    seed: given["seed"],
    students: given["students"],
    load: given["load"] === true,
    ways: given["ways"] as readonly Way[],
    json: given["json"] === true,
    reportFile: given["report"] || null,
  };
}
