/** One call of the command, from its arguments to its exit code. */
import { CommanderError } from "commander";
import { EXIT } from "./exit-codes.js";
import { exitCodeOf, Failure } from "./failure.js";
import { reportFailure } from "./output/output.js";
import { buildProgram } from "./program.js";

/** Never rejects: it tells what failed on stderr, and returns the exit code of that. */
export async function run(args: readonly string[]): Promise<number> {
  const json = wantsJson(args);
  let exitCode: number = EXIT.ok;
  try {
    // Node.js decodes what is no UTF-8 to this character: two names would become one, and the command under a lock would
    // work on another file than it was told.
    if (args.some((word) => word.includes("\ufffd")))
      throw new Failure("USAGE", EXIT.usage, "an argument is not UTF-8");
    const program = buildProgram(args, json, (code) => {
      exitCode = code;
    });
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    exitCode = exitCodeOf(error);
    // Commander has printed its own complaints, and the help that was asked for is none.
    const isTold = error instanceof CommanderError && (!json || exitCode === EXIT.ok);
    if (!isTold) reportFailure(error, json);
  }
  return exitCode;
}

export function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? args.length : end).includes("--json");
}
