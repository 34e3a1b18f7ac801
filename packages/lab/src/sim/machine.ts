/** The machine that processes of a world run on, as far as a program can see it: what is written must not depend on ours. */
import { createRequire, syncBuiltinESMExports } from "node:module";
import { replace } from "./time/globals.js";

const os = createRequire(import.meta.url)("node:os") as object;

/**
 * From now on the host is "world", the process number 1, and a warning of a process is said to nobody: no operator started the processes
 * of a world. Returns how to give them back.
 */
export function takeMachine(): () => void {
  const giveBack = [
    replace(os, { hostname: () => "world" }),
    replace(process, { pid: 1, emitWarning: () => {} }),
  ];
  syncBuiltinESMExports(); // for those who import them by name
  return () => {
    for (const give of giveBack) give();
    syncBuiltinESMExports();
  };
}
