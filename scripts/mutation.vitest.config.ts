/** The unit tests of the library, with one file of it changed: HOLDFAST_MUTANT names a file with its path and its text. */
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { moduleText, sourceFolder } from "@holdfast/lab/mutation";
import { mergeConfig } from "vitest/config";
import base from "../vitest.config.ts";

const changed = JSON.parse(readFileSync(process.env.HOLDFAST_MUTANT ?? "", "utf8")) as [string, string][];
const texts = new Map(changed);

const mutant = {
  name: "mutant",
  enforce: "pre" as const,
  load(id: string) {
    const name = relative(sourceFolder, id.split("?")[0] ?? "").replaceAll("\\", "/");
    if (name.startsWith("..") || !name.endsWith(".ts")) return null;
    return moduleText(name, texts);
  },
};

const config = mergeConfig(base, { root: resolve(import.meta.dirname, "..") });
// A project has no plugins but its own.
config.test.projects = config.test.projects.map((project: object) => ({ ...project, plugins: [mutant] }));
// The command is not tried here.
config.test.globalSetup = [];
export default config;
