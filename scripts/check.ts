/**
 * Every gate that a change must pass, tests apart: `npm run check`, or `npm run check -- tidy knip` for some of them.
 *
 *   --json   the result as one JSON array: gate, seconds, ok, output
 *
 * One line for each gate; the full output only of those that fail.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { workspaces } from "./files.ts";

interface Gate {
  readonly name: string;
  /** Arguments for node. */
  readonly args: readonly string[];
}

interface Verdict {
  readonly gate: string;
  readonly seconds: number;
  readonly ok: boolean;
  readonly output: string;
}

const root = resolve(import.meta.dirname, "..");
const options = process.argv.slice(2);
const json = options.includes("--json");
const wanted = options.filter((option) => !option.startsWith("--"));

function gates(): Gate[] {
  const tool = (name: string, path: string, ...args: string[]): Gate => ({
    name,
    args: [join("node_modules", path), ...args],
  });
  const own = (name: string, script: string, ...args: string[]): Gate => ({
    name,
    args: ["--import", "tsx", `scripts/${script}.ts`, ...args],
  });
  const published = workspaces(root, ["packages"]).filter((folder) => {
    return !JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")).private;
  });
  return [
    own("generate", "generate", "--check"),
    tool("types", "typescript/bin/tsc", "-p", "tsconfig.test.json"),
    tool(
      "biome",
      "@biomejs/biome/bin/biome",
      "ci",
      "--colors=off",
      "--error-on-warnings",
      "--diagnostic-level=warn",
    ),
    own("tidy", "tidy"),
    own("lock", "lock", "--check"),
    tool("knip", "knip/bin/knip.js", "--no-progress", "--no-config-hints"),
    own("docs", "run-docs"),
    ...published.flatMap((folder) => [
      tool(`publint ${folder}`, "publint/src/cli.js", "run", folder, "--strict"),
      tool(
        `attw ${folder}`,
        "@arethetypeswrong/cli/dist/index.js",
        "--pack",
        folder,
        "--profile",
        "esm-only",
        "--no-emoji",
      ),
    ]),
  ];
}

function judge({ name, args }: Gate): Promise<Verdict> {
  const since = performance.now();
  return new Promise((done, fail) => {
    const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0" };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
      });
    }
    child.on("error", fail);
    child.on("close", (code) => {
      const seconds = Number(((performance.now() - since) / 1000).toFixed(1));
      done({ gate: name, seconds, ok: code === 0, output: output.trim() });
    });
  });
}

function show({ gate, seconds, ok, output }: Verdict): void {
  console.log(`${ok ? "ok  " : "FAIL"} ${gate.padEnd(32)} ${seconds.toFixed(1).padStart(5)} s`);
  if (!ok) console.log(`\n${output.replaceAll(/^/gm, "     ")}\n`);
}

// prepare.mjs has generated and compiled before this program starts: the packages themselves are type-checked.
const queue = gates().filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
const verdicts: Verdict[] = [];
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let gate = queue.shift(); gate; gate = queue.shift()) {
      const verdict = await judge(gate);
      verdicts.push(verdict);
      if (!json) show(verdict);
    }
  }),
);
const failed = verdicts.filter(({ ok }) => !ok).length;
if (json) console.log(JSON.stringify(verdicts, null, 2));
else console.log(`${verdicts.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
