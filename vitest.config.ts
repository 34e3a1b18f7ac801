import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { NothingSkipped } from "./scripts/nothing-skipped.ts";
import { findServers } from "./scripts/servers.ts";

const root = import.meta.dirname;

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

const isMatrix = process.env.HOLDFAST_TEST_MATRIX === "1";

/** Some run in the matrix only, some run there with more of the same. */
const matrix = [
  "packages/*/test/**/*.matrix.test.ts",
  "packages/embedded/test/tcp.test.ts",
  "packages/holdfast/test/limits/{plain-way,blocks,charge-model}.test.ts",
  "packages/lab/test/limits/{bounds,groups,processes}.test.ts",
];

export default defineConfig({
  resolve: { alias: sources() },
  test: {
    include: isMatrix
      ? matrix
      : [
          "packages/*/test/**/*.test.ts",
          "examples/*/test/**/*.test.ts",
          "bench/test/**/*.test.ts",
          "scripts/test/**/*.test.ts",
        ],
    exclude: isMatrix ? [] : ["**/*.matrix.test.ts"],
    // The command is tried as it ships, and never an older one.
    globalSetup: "scripts/bundle.ts",
    pool: "forks",
    // Suites wait for servers and deadlines about as long as they compute: one file a core leaves cores idle.
    maxWorkers: availableParallelism() + 1,
    env: findServers(process.env),
    // Only what hangs meets them, on however busy a machine.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // A test that passes the second time has found something; retrying would hide it.
    retry: 0,
    reporters: process.env.CI ? ["default", new NothingSkipped()] : ["default"],
    allowOnly: !process.env.CI,
    dangerouslyIgnoreUnhandledErrors: false,
  },
});
