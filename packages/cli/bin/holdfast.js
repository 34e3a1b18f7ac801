#!/usr/bin/env node
/**
 * The file that npm links as `holdfast`. It is committed because npm links a command only if the file is there at
 * install time, and a clone compiles its sources later.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const program = new URL("../dist/main.js", import.meta.url);
const prepare = fileURLToPath(new URL("../../../scripts/prepare.mjs", import.meta.url));
// The first command of a clone compiles it. The package that npm installs has its program.
if (!existsSync(program) && existsSync(prepare))
  spawnSync(process.execPath, [prepare], { stdio: ["ignore", "ignore", "inherit"] });

if (existsSync(program)) await import(program.href);
else {
  console.error(
    "holdfast: the sources of this clone are not compiled: run `npm run build` in it, then try again",
  );
  process.exitCode = 69;
}
