/** The command line, and nothing else: from the arguments to one checked object. */
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { isVariantName, VARIANT_NAMES, type VariantName, variantOf, variantsFor } from "./variants.js";

export interface SaleOptions {
  readonly stock: number;
  readonly requests: number;
  readonly concurrency: number;
  readonly servers: number;
  readonly variants: readonly VariantName[];
  /** Kill a server while it holds the lock, in the variants that have one. */
  readonly kill: boolean;
  readonly ttlMs: number;
  /** Null: boot the embedded engine. */
  readonly redisUrl: string | null;
  readonly nginx: boolean;
  /** Put the locks on several servers, and the stock on one of its own. */
  readonly redlock: boolean;
  readonly json: boolean;
  /** Null: no report. */
  readonly reportFile: string | null;
  /** Keep the store open after the sale. */
  readonly serve: boolean;
  /** Null: a free one. */
  readonly port: number | null;
}

const DETAILS = `
How to read the table:
  sold      buyers who were told that they have bought
  oversold  sold beyond the stock: the shop owes these, and does not have them
  lost      pieces nobody got although there were buyers enough; a server killed
            in the middle of a sale may cost one, it never sells one too many
  errors    answers other than 200, and requests without an answer
  mean, p50, p99, worst   from sending a request to its answer, in milliseconds

Variants:
  none    read, check, write without any lock
  mutex   the same under a holdfast mutex
  fenced  under the mutex, into a fenced record, which refuses a holder that a
          later one has followed
  script  one atomic script, the yardstick for what a lock costs
With --redlock, the lock is on five embedded servers and the stock on a sixth:
  none         read, check, write without any lock
  redlock      under holdfast's Redlock, into a fenced record
  npm-redlock  read, check, write under npm redlock

Examples:
  npm start
  npm start -- --kill
  npm start -- --variants none,mutex --stock 50 --requests 400
  npm start -- --once --json
  npm start -- --redis redis://127.0.0.1:6379
  npm start -- --nginx
  npm start -- --redlock
  npm start -- --serve --port 8080

With --redis, every key starts with flash-sale: and a random id, and is deleted in
the end. Exit codes: 0 sold as promised; 1 a variant with a guard oversold, or the
sale failed; 64 wrong arguments; 69 Redis, nginx or the port not available;
130 Ctrl-C.
`;

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

function variantList(text: string): readonly VariantName[] {
  const names = text.split(",").map((name) => name.trim());
  const known = names.filter(isVariantName);
  if (known.length < names.length) throw new InvalidArgumentError(`Choose from ${VARIANT_NAMES.join(", ")}.`);
  const twice = known.find((name, index) => known.indexOf(name) < index);
  if (twice) throw new InvalidArgumentError(`${twice} is given twice.`);
  return VARIANT_NAMES.filter((name) => known.includes(name));
}

function redisUrl(text: string): string {
  if (/^rediss?:\/\/[^/]/.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError("Give a URL such as redis://127.0.0.1:6379.");
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
  return new Command("npm start --")
    .description("1600 buyers, 200 pieces, several web servers: who sells exactly 200?")
    .helpOption("-h, --help", "print this text")
    .option("--stock <pieces>", "pieces for sale", wholeNumber(1, 1_000_000), 200)
    .option("--requests <count>", "buyers in all", wholeNumber(1, 10_000_000), 1_600)
    .option("--concurrency <count>", "buyers at a time", wholeNumber(1, 10_000), 16)
    .option("--servers <count>", "web server processes", wholeNumber(1, 64), 4)
    .option("--variants <names>", "ways of selling, with commas between (default: all)", variantList)
    .option("--kill", "kill a server with SIGKILL while it holds the lock")
    .option("--ttl <ms>", "life of a lease that is not renewed", wholeNumber(200, 60_000), 2_000)
    .option("--redis <url>", "use this Redis or Valkey instead of the embedded one", redisUrl)
    .option("--nginx", "put nginx in front, the servers on ports of their own")
    .option("--redlock", "lock over five embedded servers, beside npm redlock")
    .option("--once", "run once and exit: what happens anyway without --serve")
    .option("--json", "print one line of JSON instead of the table")
    .option("--report <file>", "where to write the report", reportPath, "reports/flash-sale.html")
    .option("--no-report", "write no report")
    .option("--serve", "keep the store open afterwards, until Ctrl-C")
    .option("--port <number>", "port of the store (default: a free one)", wholeNumber(1, 65_535))
    .addHelpText("after", DETAILS)
    .allowExcessArguments(false)
    .showHelpAfterError("(npm start -- --help lists the options)");
}

/**
 * Prints the help or what is wrong and throws a CommanderError, which carries commander's exit code.
 * @param complain takes what is wrong
 */
export function parseOptions(
  args: readonly string[],
  complain: (text: string) => unknown = (text) => process.stderr.write(text),
): SaleOptions {
  const command = build().exitOverride().configureOutput({ writeErr: complain });
  const given = command.parse(args, { from: "user" }).opts();
  const wrong = (message: string): never => command.error(`error: ${message}`);
  const redlock = given["redlock"] === true;
  const offered = variantsFor(redlock);
  const variants: readonly VariantName[] = given["variants"] ?? offered;
  const foreign = variants.find((name) => !offered.includes(name));
  if (foreign)
    wrong(
      `--variants ${foreign} is for a sale ${redlock ? "without" : "with"} --redlock: choose from ${offered.join(", ")}`,
    );
  if (redlock && given["redis"]) wrong("--redlock starts servers of its own: it cannot go with --redis");
  if (given["concurrency"] > given["requests"]) wrong("--concurrency cannot be more than --requests");
  if (given["serve"] && (given["once"] || given["json"]))
    wrong("--serve stays: it cannot go with --once or --json");
  if (given["kill"] && given["servers"] < 2)
    wrong("--kill needs a second server to go on: --servers 2 or more");
  if (given["kill"] && !variants.some((name) => variantOf(name).locked))
    wrong(
      `--kill needs a lock in --variants: ${offered.filter((name) => variantOf(name).locked).join(" or ")}`,
    );
  return {
    stock: given["stock"],
    requests: given["requests"],
    concurrency: given["concurrency"],
    servers: given["servers"],
    variants,
    kill: given["kill"] === true,
    ttlMs: given["ttl"],
    redisUrl: given["redis"] ?? null,
    nginx: given["nginx"] === true,
    redlock,
    json: given["json"] === true,
    reportFile: given["report"] || null,
    serve: given["serve"] === true,
    port: given["port"] ?? null,
  };
}
