import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { LeftOut } from "./scripts/left-out.ts";
import { NothingSkipped } from "./scripts/nothing-skipped.ts";
import { Progress } from "./scripts/progress.ts";
import { findServers } from "./scripts/servers.ts";
import { SlowFirst } from "./scripts/slow-first.ts";

const root = import.meta.dirname;
/** A number: another order of the files than the slow ones first. */
const order = process.env.HOLDFAST_TEST_ORDER;

/** What `exports` of package.json says of an entry, for both formats or for one. */
interface Target {
  readonly default?: string;
  readonly import?: { readonly default: string };
}

/**
 * The library by its package name is its source here, as it is for a test that imports `../src`: two copies of one
 * class in one process would make `instanceof` lie. @holdfast/embedded stays compiled: it starts its own worker file.
 */
function sources(): { find: RegExp; replacement: string }[] {
  return readdirSync(resolve(root, "packages"))
    .map((folder) => resolve(root, "packages", folder))
    .filter((folder) => existsSync(resolve(folder, "package.json")) && !folder.endsWith("embedded"))
    .flatMap((folder) => {
      const { name, exports } = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8"));
      return Object.entries<Target>(exports ?? {}).flatMap(([path, target]) => {
        const source = (target.import ?? target).default?.replace("./dist/", "src/").replace(/\.js$/, ".ts");
        if (!source || path.includes("*")) return [];
        const find = new RegExp(`^${name}${path.slice(1).replaceAll(".", "\\.")}$`);
        return [{ find, replacement: resolve(folder, source) }];
      });
    });
}

const folders = ["packages/*", "bench", "examples/*"];

/** `npm run test:matrix`: what a gate needs and takes longer, most of it pairs of servers and clients. */
const matrix = [...folders, "scripts"].map((folder) => `${folder}/test/**/*.matrix.test.ts`);

/** `npm run soak`: what goes by the clock of the machine, what takes its strength, and what runs with more of the same. */
const soak = [
  ...folders.map((folder) => `${folder}/test/**/*.soak.test.ts`),
  "packages/cli/test/{lock,look}.test.ts",
  "packages/compat/test/originals-4.test.ts",
  "examples/dormitory/test/schedules.test.ts",
  "examples/flash-sale/test/sale.matrix.test.ts",
  "packages/embedded/test/tcp.test.ts",
  "packages/holdfast/test/limits/{plain-way,blocks,charge-model}.test.ts",
  "packages/lab/test/limits/{bounds,groups}.test.ts",
  "packages/lab/test/model/quorum-real.test.ts",
  "packages/lab/test/queues/restart.test.ts",
  "packages/lab/test/experiments/experiments.test.ts",
  "packages/lab/test/sim/workloads.test.ts",
];

const later = ["**/*.matrix.test.ts", "**/*.soak.test.ts"];

const quick = [
  "packages/*/test/**/*.test.ts",
  "examples/*/test/**/*.test.ts",
  "bench/test/**/*.test.ts",
  "scripts/test/**/*.test.ts",
];

/** Suites that need a process of their own: some tell what it warns of once in a process, and some break what others share. */
const alone = [
  "packages/conformance/test/client-{failure,broken-turn}.test.ts",
  "packages/holdfast/test/{files-per-call,middleware/misuse,queues/warnings}.test.ts",
];

interface Suites {
  readonly include: string[];
  readonly exclude?: string[];
  readonly isolate?: boolean;
  readonly testTimeout?: number;
}

/** What every project has; the rest is said once for all. */
const project = (name: string, test: Suites) => ({
  resolve: { alias: sources() },
  test: {
    name,
    // Only what hangs meets them, on however busy a machine.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    ...test,
    pool: "forks" as const,
    // Broken copies of the library for canaries: Node.js loads them by itself. Vitest would keep 45 MB of source map for each.
    server: { deps: { external: [/holdfast-canary-/] } },
    env: findServers(process.env),
    expect: { poll: { timeout: 30_000 } },
    // A test that passes the second time has found something; retrying would hide it.
    retry: 0,
    allowOnly: !process.env.CI,
  },
});

function projects() {
  if (process.env.HOLDFAST_TEST_SOAK === "1")
    return [project("soak", { include: soak, testTimeout: 600_000 })];
  if (process.env.HOLDFAST_TEST_MATRIX === "1") return [project("matrix", { include: matrix })];
  // All other suites share processes, file after file: to load the library anew for each costs more than most of them. Nothing in them
  // may change what the next one meets, and no hook may stand in a module that two of them import: it would run in the first
  // only. `HOLDFAST_TEST_ORDER=7 npx vitest run` tries another order.
  return [
    project("alone", { include: alone }),
    project("together", { include: quick, exclude: [...later, ...alone], isolate: false }),
  ];
}

export default defineConfig({
  test: {
    projects: projects(),
    // The command is tried as it ships, and never an older one.
    globalSetup: "scripts/bundle.ts",
    // Suites wait for servers and deadlines longer than they compute: one file a core leaves cores idle.
    maxWorkers: availableParallelism() + 2,
    sequence:
      order === undefined ? { sequencer: SlowFirst } : { shuffle: { files: true }, seed: Number(order) },
    dangerouslyIgnoreUnhandledErrors: false,
    reporters: ["default", new Progress(), new LeftOut(), ...(process.env.CI ? [new NothingSkipped()] : [])],
  },
});
