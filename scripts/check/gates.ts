/** The gates of `npm run check`, tests apart: what a change must pass. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { libraries } from "../bundle/library.ts";
import { workspaces } from "../files.ts";

export interface Gate {
  readonly name: string;
  /** Arguments for node, in the root. */
  readonly args: readonly string[];
  /** Reads what the build writes; without it, it would only say that again. */
  readonly needsBuild?: boolean;
}

const quiet = ["--no-progress", "--no-config-hints"];

/** In the order in which they start: what others wait for first. */
export function gatesOf(root: string): Gate[] {
  return [
    { name: "build", args: ["scripts/prepare.mjs"] },
    own("generate", "generate", "--check"),
    own("figures", "figures", "--check"),
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
    // It loads the configuration of vitest, which asks a package of this house for the servers.
    { ...tool("knip", "knip/bin/knip.js", ...quiet), needsBuild: true },
    // Without the tests: what only its own tests use of the lab is of no use to a harness.
    tool(
      "knip lab",
      "knip/bin/knip.js",
      "--production",
      "--workspace",
      "packages/lab",
      "--config",
      "knip.production.json",
      ...quiet,
    ),
    { ...tool("types", "typescript/bin/tsc", "-p", "tsconfig.test.json"), needsBuild: true },
    { ...own("docs", "run-docs"), needsBuild: true },
    ...published(root).flatMap((folder) => [
      { ...tool(`publint ${folder}`, "publint/src/cli.js", "run", folder, "--strict"), needsBuild: true },
      {
        ...tool(
          `attw ${folder}`,
          "@arethetypeswrong/cli/dist/index.js",
          "--pack",
          folder,
          // A library is also found by `main` and `typesVersions`, as moduleResolution node10 does.
          "--profile",
          libraries().includes(folder) ? "strict" : "esm-only",
          "--no-emoji",
        ),
        needsBuild: true,
      },
    ]),
  ];
}

function tool(name: string, path: string, ...args: string[]): Gate {
  return { name, args: [join("node_modules", path), ...args] };
}

function own(name: string, script: string, ...args: string[]): Gate {
  return { name, args: ["--import", "tsx", `scripts/${script}.ts`, ...args] };
}

function published(root: string): string[] {
  return workspaces(root, ["packages"]).filter(
    (folder) => !JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")).private,
  );
}

/** The gates that have one of the words in their names, all without a word; and the words that none has. */
export function chosen(
  gates: readonly Gate[],
  words: readonly string[],
): { readonly gates: readonly Gate[]; readonly unknown: readonly string[] } {
  const unknown = words.filter((word) => !gates.some(({ name }) => name.includes(word)));
  const named = gates.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  const build = named.some(({ needsBuild }) => needsBuild);
  return { gates: gates.filter((gate) => named.includes(gate) || (build && gate.name === "build")), unknown };
}
