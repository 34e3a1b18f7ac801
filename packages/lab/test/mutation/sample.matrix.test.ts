import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { sample } from "./sample.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../../../..");
const seeds = 20;

// In a process of its own: the worker is compiled, and its library is not the one that is tested here.
it(`mutants of a sample are all killed within ${seeds} seeds`, { timeout: 120_000 }, async () => {
  const program = `
    import { trySample } from "@holdfast/lab/mutation";
    console.log(JSON.stringify(await trySample(${JSON.stringify(sample)}, ${seeds})));`;
  const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { cwd: root });
  const kills = JSON.parse(stdout) as ({ property: string } | null)[];
  const alive = sample.filter((_, place) => kills[place] === null);
  expect(alive).toEqual([]);
  expect(kills.filter((kill) => kill?.property === "crash" || kill?.property === "hang")).toEqual([]);
});
