/** A small load run as a user starts it: real web servers and workers, kills, archive, exit code, the line of JSON. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const MAIN = fileURLToPath(new URL("../dist/main.js", import.meta.url));

test("200 students choose both ways while processes are killed", { timeout: 600_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "dormitory-load-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const report = join(folder, "report.html");
  const args = [MAIN, "--load", "--students", "200", "--json", "--report", report];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 540_000 });
  const line = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(line).toMatchObject({ students: 200, batches: 20, archive: { differences: 0 } });
  expect(line.ways).toHaveLength(2);
  const none = {
    bedsGivenTwice: 0,
    studentsWithTwoRooms: 0,
    teamsTornApart: 0,
    answersLost: 0,
    otherDifferences: 0,
  };
  for (const way of line.ways) {
    expect(way).toMatchObject(none);
    expect(way.killed.map(({ program }: { program: string }) => program).sort()).toEqual([
      "web server",
      "worker",
    ]);
    expect(way.withRoom).toBeGreaterThan(100);
  }
  expect(readFileSync(report, "utf8")).toContain("<svg");
});
