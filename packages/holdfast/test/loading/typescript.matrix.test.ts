/** The declarations under every way to resolve modules that two compilers know, for CommonJS and for ES modules. */
import { expect, test } from "vitest";
import { compiled, type Project } from "./compiled.ts";

const both = ["cts", "mts"] as const;
const PROJECTS: readonly Project[] = [
  { compiler: "typescript-5.9", module: "node16", moduleResolution: "node16", endings: both },
  { compiler: "typescript-5.9", module: "nodenext", moduleResolution: "nodenext", endings: both },
  { compiler: "typescript-5.9", module: "preserve", moduleResolution: "bundler", endings: ["ts"] },
  { compiler: "typescript-5.9", module: "esnext", moduleResolution: "bundler", endings: ["mts"] },
  { compiler: "typescript", module: "node16", moduleResolution: "node16", endings: both },
  { compiler: "typescript", module: "commonjs", moduleResolution: "bundler", endings: ["ts"] },
  { compiler: "typescript", module: "preserve", moduleResolution: "bundler", endings: ["ts"] },
];

test.each(PROJECTS)("$compiler, module $module, moduleResolution $moduleResolution", async (project) => {
  expect((await compiled(project)).complaints).toBe("");
});
