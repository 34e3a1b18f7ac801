/** `holdfast lab`: the list, one experiment, and what is said when there is none of that number. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Program, run } from "./program.js";

vi.setConfig({ testTimeout: 60_000 });

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "holdfast-lab-test-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test("lists the experiments, one a line", async () => {
  const { exitCode, stdout, stderr } = await run(["lab"]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(/^D1 +A pause longer than the lease\nD2 /);
  const { experiments } = JSON.parse((await run(["lab", "--json"])).stdout);
  expect(experiments.map(({ id }: { id: string }) => id)).toContain("D18");
  expect(stdout.match(/^D\d+ /gm)).toHaveLength(experiments.length);
});

test("runs one: prints what happened, and writes the page where it says", async () => {
  const out = join(folder(), "pages");
  const { exitCode, stdout, stderr } = await run(["lab", "5", "--seed", "3", "--out", out]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toContain("✗ naive");
  expect(stdout).toContain("✓ holdfast");
  expect(stdout).toContain(`As a page: ${join(out, "D5.html")}`);
  expect(stdout).toMatch(/\nRead next: .+\nThe next one: holdfast lab D6, .+\n$/);
  expect(readFileSync(join(out, "D5.html"), "utf8")).toContain("holdfast lab D5 --seed 3");
});

test("runs several, in the order in which they are named", async () => {
  const out = folder();
  const { exitCode, stdout } = await run(["lab", "16", "d5", "--out", out]);
  expect(exitCode).toBe(0);
  expect(stdout.match(/^D\d+ {2}/gm)).toEqual(["D16  ", "D5  "]);
  expect(stdout).toContain(`As a page: ${join(out, "D16.html")}`);
  const { experiments } = JSON.parse((await run(["lab", "16", "5", "--naive-only", "--json"])).stdout);
  expect(experiments.map(({ id }: { id: string }) => id)).toEqual(["D16", "D5"]);
});

test("--json is one document, and writes nothing", async () => {
  const temporary = folder();
  const { exitCode, stdout } = await run(["lab", "D16", "--naive-only", "--json"], { TMPDIR: temporary });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ id: "D16", seed: 1, asExpected: true },
    trials: [
      { side: "naive", verdict: "fails", figures: {}, checks: [{ findings: [{}] }, {}, {}], timeline: {} },
    ],
  });
  expect(readdirSync(temporary)).toEqual([]);
});

test("a library that grants nothing shows nothing: exit code 2", async () => {
  const library = new URL("../../holdfast/dist/index.js", import.meta.url);
  const idle = `import { Holdfast } from "${library}";
    const { mutex } = Holdfast.prototype;
    Holdfast.prototype.mutex = function (...terms) {
      return Object.assign(mutex.apply(this, terms), { acquire: () => new Promise(() => {}) });
    };`;
  const options = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(idle)}` };
  const { exitCode, stdout, stderr } = await run(["lab", "5", "--out", folder()], options);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: "" });
  expect(stdout).toContain("✗ naive");
  expect(stdout).toMatch(/\? holdfast .*\n(.*\n)+? +This run shows nothing.* Grants: 0 of/);
});

test("--real stops a process, and leaves none behind", async () => {
  const { exitCode, stdout } = await run(["lab", "1", "--real", "--json"]);
  const { trials } = JSON.parse(stdout);
  const labels = trials[0].timeline.arrows.map(({ label }: { label: string }) => label);
  expect(labels).toContain("asks for the lock → has it");
  expect(labels.join("\n")).not.toContain("token"); // the recipe has none
  expect(trials).toMatchObject([
    { side: "naive", verdict: "fails", figures: { "money lost": 20 } },
    { side: "holdfast", verdict: "holds", figures: { "writes refused": 1 } },
  ]);
  expect(exitCode).toBe(0);
});

test.each([
  { args: ["lab", "2", "--real"], says: "--real is for experiment 1" },
  { args: ["lab", "1", "2", "--real"], says: "--real is for experiment 1" },
  { args: ["lab", "99"], says: "there is no experiment 99; there are D1, D2" },
  { args: ["lab", "5", "99"], says: "there is no experiment 99; there are D1, D2" },
  { args: ["lab", "1", "--all"], says: "give an experiment, or --all" },
  { args: ["lab", "--seed", "3"], says: "give an experiment, or --all" },
  { args: ["lab", "--naive-only"], says: "give an experiment, or --all" },
])("$args: exit code 64", async ({ args, says }) => {
  const { exitCode, stdout, stderr } = await run(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: "" });
  expect(stderr).toContain(says);
});

/** In /proc nothing can be made, and the system says of it that there is no such file. */
const nowhere = ["/dev/null/pages", ...(existsSync("/proc/self") ? ["/proc/pages", "/proc/more/pages"] : [])];

test.each(nowhere)("a folder that cannot be made is exit code 74: %s", async (out) => {
  const { exitCode, stderr } = await run(["lab", "1", "--out", out]);
  expect(exitCode).toBe(74);
  expect(stderr).toMatch(/^holdfast: --out: .*\n$/);
});

test("Ctrl-C ends it, and leaves nothing that was begun", async () => {
  const temporary = folder();
  const program = new Program(["lab", "--all"], { TMPDIR: temporary });
  await program.printed(/D1 /);
  program.child.kill("SIGINT");
  const { signal, exitCode } = await program.ended();
  expect(signal ?? exitCode).toBe("SIGINT");
  const pages = readdirSync(temporary, { recursive: true }).map((name) => join(temporary, String(name)));
  for (const page of pages.filter((name) => name.endsWith(".html"))) {
    expect(existsSync(page) && readFileSync(page, "utf8")).toMatch(/<\/html>\n$/);
  }
});
