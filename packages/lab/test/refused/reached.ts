/** Calls of scripts that the workloads made, each with what its server held at that moment: states that were reached, none made by hand. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Failure, planOf, type RunOptions, runPlan } from "@holdfast/lab/sim";
import { commandsIn, ReplyReader } from "../../src/sim/resp.js";
import { type Contents, contentsOf, readContents } from "./contents.js";

export interface Script {
  /** Path below `src`, without the ending. */
  readonly name: string;
  readonly source: string;
}

export interface Call {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** By the server's clock. */
  readonly ms: number;
  readonly contents: Contents;
  /** Channels that somebody listens to. */
  readonly channels: readonly string[];
  /** How to see it again. */
  readonly from: string;
}

/** The name of each script of the library, by its SHA-1. */
export const scriptNames: ReadonlyMap<string, string> = new Map(
  readFileSync(new URL("../../../../scripts.sha1", import.meta.url), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, sha1 = "", name = ""] = /^(\w+) +packages\/holdfast\/src\/(\S+)\.lua$/.exec(line) ?? [];
      return name === "" ? [] : [[sha1, name] as const];
    }),
);

/** Of each script the first call of a run, the second, the fourth, the eighth: early states, and some of all later ones. */
const isTaken = (nth: number): boolean => Number.isInteger(Math.log2(nth));

/** What one seed of a workload made: a few calls of each script, and what was wrong with the run, which is the same as without listening. */
export async function reachedBy(
  workload: string,
  seed: number,
): Promise<{
  readonly calls: readonly Call[];
  /** All commands of clients, in capitals. */
  readonly commands: ReadonlySet<string>;
  readonly failures: readonly Failure[];
}> {
  const calls: Call[] = [];
  const commands = new Set<string>();
  /** By SHA-1: the first call of a process has the text. */
  const scripts = new Map<string, Script>();
  const counts = new Map<Script, number>();
  const heard: RunOptions["heard"] = (node, bytes) => {
    if (!node.isUp) return;
    for (const [command = "", text = "", count = "", ...words] of commandsOf(bytes)) {
      commands.add(command.toUpperCase());
      const script = scriptOf(command, text);
      if (!script) continue;
      const nth = (counts.get(script) ?? 0) + 1;
      counts.set(script, nth);
      if (!isTaken(nth)) continue;
      const [contents, channels, time] = node.peekAll(readContents, ["PUBSUB", "CHANNELS"], ["TIME"]);
      if (!Array.isArray(time) || !Array.isArray(channels)) continue;
      const ms = Number(time[0]) * 1000 + Math.floor(Number(time[1]) / 1000);
      calls.push({
        script,
        keys: words.slice(0, Number(count)),
        args: words.slice(Number(count)),
        ms,
        contents: contentsOf(contents).filter(({ endMs }) => endMs < 0 || endMs > ms),
        channels: channels.map(String),
        from: `${workload} ${seed}`,
      });
    }
  };
  const scriptOf = (command: string, text: string): Script | undefined => {
    if (command === "evalsha") return scripts.get(text);
    if (command !== "eval") return undefined;
    const sha1 = createHash("sha1").update(text).digest("hex");
    const name = scriptNames.get(sha1);
    if (name !== undefined && !scripts.has(sha1)) scripts.set(sha1, { name, source: text });
    return scripts.get(sha1);
  };
  const { failures } = await runPlan(planOf(seed, workload), { heard });
  return { calls, commands, failures };
}

function commandsOf(bytes: Uint8Array): string[][] {
  const found: string[][] = [];
  for (const { bytes: one } of commandsIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))) {
    const [words] = new ReplyReader().read(one);
    if (Array.isArray(words)) found.push(words.map(String));
  }
  return found;
}
