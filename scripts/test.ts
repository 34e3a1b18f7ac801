/**
 * Runs every suite: `npm test`, or `npm test -- mutex` for the files whose path has "mutex" in it.
 *
 * Suites against real servers leave themselves out when there is none (servers.ts, vitest.config.ts). With CI set
 * nothing is left out: a missing server fails before anything runs.
 */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { findServers, servers } from "./servers.ts";

const root = resolve(import.meta.dirname, "..");
const found = findServers(process.env);
const missing = servers.filter(({ variable }) => found[variable] === "");
const leftOut = missing.map(({ suites, install }) => `${suites} (${install})`).join("; ");

if (missing.length > 0 && process.env.CI) {
  console.error(`cannot run: ${leftOut}`);
  process.exitCode = 1;
} else {
  process.exitCode = await vitest();
  // Said last, where it is seen.
  if (missing.length > 0) console.log(`left out: ${leftOut}`);
}

function vitest(): Promise<number> {
  const args = ["node_modules/vitest/vitest.mjs", "run", ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  // Ctrl-C reaches vitest as well, which then stops its workers; this process only waits for it.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => done(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}
