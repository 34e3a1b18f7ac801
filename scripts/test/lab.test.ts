import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../..");

test("who wants an experiment is told where the experiments are", () => {
  const tsx = join(root, "node_modules/.bin/tsx");
  const { status, stderr } = spawnSync(tsx, ["scripts/lab.ts", "20"], { cwd: root, encoding: "utf8" });
  expect(status).toBe(64);
  expect(stderr).toContain("the experiments are `npx holdfast lab 20`");
}, 60_000);
