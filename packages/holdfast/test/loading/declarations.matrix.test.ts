/** The declarations under the oldest way to resolve modules and under the newest compiler, with the types that they write. */
import { expect, test } from "vitest";
import { compiled, type Project } from "./compiled.ts";

const PROJECTS: readonly Project[] = [
  // The default of `module: commonjs`, which knows `main`, `types` and `typesVersions`, and no `exports`.
  { compiler: "typescript-5.9", module: "commonjs", moduleResolution: "node10", endings: ["ts"] },
  { compiler: "typescript", module: "nodenext", moduleResolution: "nodenext", endings: ["cts", "mts"] },
];

test.each(PROJECTS)("$compiler, module $module, moduleResolution $moduleResolution", async (project) => {
  const { complaints, declaration } = await compiled(project);
  expect(complaints).toBe("");
  expect(declaration).toContain('limitExpress: import("holdfast/middleware/express").ExpressHandler<');
  expect(declaration).toContain('several: import("holdfast").MultiLock');
});
