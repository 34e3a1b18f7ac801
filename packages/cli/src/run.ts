/** One call of the command, from its arguments to its exit code. */
import { CommanderError } from "commander";
import { EXIT, type Exit } from "./exit-codes.js";
import { exitCodeOf, Failure } from "./failure.js";
import { reportFailure } from "./output/output.js";
import { buildProgram } from "./program.js";

/** Never rejects: it tells what failed on stderr, and returns how that ends. */
export async function run(args: readonly string[]): Promise<Exit> {
  const json = wantsJson(args);
  let exit: Exit = EXIT.ok;
  try {
    // Node.js decodes what is no UTF-8 to this character: two names would become one, and the command under a lock would
    // work on another file than it was told.
    if (args.some((word) => word.includes("\ufffd")))
      throw new Failure("USAGE", EXIT.usage, "an argument is not UTF-8");
    const program = buildProgram(args, json, (how) => {
      exit = how;
    });
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    exit = exitCodeOf(error);
    // Commander has printed its own complaints, and the help that was asked for is none.
    const isTold = error instanceof CommanderError && (!json || exit === EXIT.ok);
    if (!isTold) exit = reportFailure(error, json);
  }
  return exit;
}

export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).includes("--json");
}
