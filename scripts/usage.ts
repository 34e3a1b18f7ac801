/** A script's opening comment is its help: what it is for, how it is called, its options, its exit codes. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** It was called wrongly. */
export class Misuse extends Error {}

/** Runs a script, whose exit code is what `main` returns, or 64 when it was called wrongly. */
export async function runScript(
  url: string,
  main: () => number | undefined | Promise<number | undefined>,
): Promise<void> {
  const file = fileURLToPath(url);
  // Whoever reads may have seen enough, as `head` has.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit();
  });
  if (process.argv.slice(2).some((word) => word === "--help" || word === "-h")) {
    console.log(helpIn(readFileSync(file, "utf8")));
    return;
  }
  try {
    process.exitCode = await main();
  } catch (error) {
    const isMisuse = error instanceof Misuse;
    if (!isMisuse && !(error as NodeJS.ErrnoException).code?.startsWith("ERR_PARSE_ARGS")) throw error;
    // What Node adds is about a parser, not about this script.
    const message = (error as Error).message;
    const call = `npm run ${basename(file, ".ts")} --`;
    console.error(isMisuse ? message : message.replace(/\. .*/s, ""));
    console.error(`usage: ${call} [options]; ${call} --help names them`);
    process.exitCode = 64;
  }
}

/** The opening comment without its stars. */
function helpIn(source: string): string {
  const comment = /^\/\*\*\n(.*?)\n \*\//s.exec(source)?.[1] ?? "";
  return comment.replaceAll(/^ \* ?/gm, "");
}
