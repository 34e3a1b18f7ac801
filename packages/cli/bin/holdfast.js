#!/usr/bin/env node
/**
 * The file that npm links as `holdfast`. It is committed because npm links a command only if the file is there at
 * install time, and a clone compiles its sources later.
 */
import { existsSync } from "node:fs";

const program = new URL("../dist/main.js", import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  console.error(
    "holdfast: the sources of this clone are not compiled: run `npm run build` in it, then try again",
  );
  process.exitCode = 69;
}
