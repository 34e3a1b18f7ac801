/** The fenced file among real processes: killed at every step, stopped at every step, and many at once. */

import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { launch, processList } from "@holdfast/conformance";
import { FencedFile } from "holdfast/fencing/file";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { quickFolder } from "./quick-files.js";

const program = join(import.meta.dirname, "file-writer.mjs");
const holder = (fence: bigint) => ({ fence, id: `id-${fence}` });

let folder: string;
let children: ChildProcess[];
beforeEach(() => {
  folder = quickFolder();
  children = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Terms {
  readonly path?: string;
  /** Instead of one, with a stop at step 1 of the first, step 2 of the second, and so on. */
  readonly paths?: readonly string[];
  readonly tokens: readonly number[];
  readonly id?: string;
  /** The step before which it sends itself the signal; 0 is never. */
  readonly stepAt?: number;
  readonly signal?: "SIGKILL" | "SIGSTOP";
  /** Whether a file that it makes at that step stays half written. */
  readonly torn?: boolean;
}

interface Told {
  readonly lines: string[];
  readonly signal: NodeJS.Signals | null;
}

/** A process that writes. `said` resolves to the line of this kind that comes after `before` others. */
function writer(terms: Terms) {
  const words = JSON.stringify({ id: `id-${terms.tokens[0]}`, ...terms });
  const child = launch(process.execPath, [program, words], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const lines: string[] = [];
  const ended: Promise<Told> = once(child, "close").then(([code, signal]) => {
    if (code !== 0 && signal === null) throw new Error(`the writer ended with ${code}: ${lines.join(", ")}`);
    return { lines, signal };
  });
  const output = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  output.on("line", (line) => lines.push(line));
  const said = async (kind: RegExp, before: number): Promise<string> => {
    for (;;) {
      const line = lines.filter((each) => kind.test(each))[before];
      if (line !== undefined) return line;
      await Promise.race([once(output, "line"), ended.then(() => Promise.reject(new Error(`no ${kind}`)))]);
    }
  };
  /** It says that it stops before it stops: told too early to go on, it would then stand still for ever. */
  const go = async (): Promise<void> => {
    const state = () => processList().find(({ pid }) => pid === child.pid)?.state;
    await expect.poll(state, { interval: 5, timeout: 30_000 }).toBe("T");
    child.kill("SIGCONT");
  };
  return { ended, said, go };
}

/** What the file says: the tokens of all who wrote, in order, the last of them being its own. */
async function tokensIn(file: FencedFile): Promise<number[]> {
  const { content, fence } = await file.read();
  const tokens = (content?.toString() ?? "").split(" ").filter(Boolean).map(Number);
  expect(tokens.at(-1) ?? 0).toBe(Number(fence));
  expect([...tokens].sort((a, b) => a - b)).toEqual(tokens);
  return tokens;
}

async function stepsOfOneWrite(): Promise<number> {
  const path = join(folder, "length");
  await new FencedFile(path).write(holder(1n), "1");
  const { lines } = await writer({ path, tokens: [2] }).ended;
  return Number(lines.find((line) => line.startsWith("steps"))?.split(" ")[1]);
}

describe.skipIf(process.platform === "win32")("the fenced file among processes", () => {
  test("a writer killed at any step leaves the old content or the new, and no obstacle", {
    timeout: 180_000,
  }, async () => {
    const steps = await stepsOfOneWrite();
    expect(steps).toBeGreaterThan(15);
    const ends = new Set<string>();
    const killAt = async (stepAt: number, torn: boolean) => {
      const file = new FencedFile(join(folder, `${stepAt}-${torn}`));
      await file.write(holder(1n), "1");
      const { signal, lines } = await writer({ path: file.path, tokens: [2], stepAt, torn }).ended;
      expect(signal).toBe("SIGKILL");
      const left = await tokensIn(file);
      ends.add(left.join(" "));
      expect([[1], [1, 2]]).toContainEqual(left);
      // The same holder may go on, and so may the next one; both find what was left.
      await file.write(holder(2n), `${(await file.enter(holder(2n)))?.toString()} 2`);
      await file.write(holder(3n), `${(await file.enter(holder(3n)))?.toString()} 3`);
      expect(await tokensIn(file)).toEqual([...left, 2, 3]);
      expect(readdirSync(file.folder).map((name) => name.split(".").slice(0, 2).join("."))).toEqual([
        "data.3",
        "fence.3",
      ]);
      return lines[0];
    };
    let torn = 0;
    for (let stepAt = 1; stepAt <= steps; stepAt++) {
      // A file that was being made is there as a whole, or in part, or not at all.
      if ((await killAt(stepAt, false)) !== "at create") continue;
      await killAt(stepAt, true);
      torn++;
    }
    expect(torn).toBe(2);
    expect(ends).toEqual(new Set(["1", "1 2"]));
  });

  test("a writer stopped at any step while a newer one writes loses nothing and overwrites nothing", {
    timeout: 180_000,
  }, async () => {
    const steps = await stepsOfOneWrite();
    const outcomes = new Set<string>();
    const files = Array.from({ length: steps }, (_, at) => new FencedFile(join(folder, String(at))));
    for (const file of files) await file.write(holder(1n), "1");
    const paused = writer({ paths: files.map(({ path }) => path), tokens: [2], signal: "SIGSTOP" });
    for (const [at, file] of files.entries()) {
      await paused.said(/^at /, at);
      await file.write(holder(3n), `${(await file.enter(holder(3n)))?.toString()} 3`);
      const after = await tokensIn(file);
      await paused.go();
      const verdict = await paused.said(/^(written|refused)/, at);
      outcomes.add(verdict);
      expect(after).toEqual(verdict === "written 2" ? [1, 2, 3] : [1, 3]);
      expect(await tokensIn(file)).toEqual(after);
    }
    expect(outcomes).toEqual(new Set(["written 2", "refused 2 3"]));
  });

  test("many writers, some of them killed: every write that was confirmed is there, and tokens never fall", {
    timeout: 180_000,
  }, async () => {
    const file = new FencedFile(join(folder, "f"));
    const lanes = 4;
    const rounds = 4;
    let [running, newest, looks] = [true, 0, 0];
    const watching = (async () => {
      while (running) {
        const last = (await tokensIn(file)).at(-1) ?? 0;
        expect(last).toBeGreaterThanOrEqual(newest);
        newest = last;
        looks++;
      }
    })();
    const confirmed: number[] = [];
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let round = 0; round < rounds; round++) {
          const tokens = Array.from({ length: 12 }, (_, at) => 1 + lane + lanes * (at + 12 * round));
          // Another step for each process, so that over all of them every kind of step is hit.
          const stepAt = round % 2 === 0 ? 0 : 40 + lane * 23 + round * 7;
          const { lines } = await writer({ path: file.path, tokens, stepAt, id: `lane-${lane}` }).ended;
          for (const line of lines)
            if (line.startsWith("written")) confirmed.push(Number(line.split(" ")[1]));
        }
      }),
    );
    running = false;
    await watching;
    const there = await tokensIn(file);
    expect(there).toEqual(expect.arrayContaining(confirmed));
    expect(there.length - confirmed.length).toBeLessThanOrEqual((lanes * rounds) / 2);
    expect(confirmed.length).toBeGreaterThan(0);
    expect(looks).toBeGreaterThan(0);
  });
});

/** A file beyond the limit fails in the middle of its content, as on a full disk. */
test.skipIf(process.platform === "win32").each([
  { title: "the mark", blocks: 0 },
  { title: "the content", blocks: 1 },
])("no room for $title: every try fails, and leaves nothing behind", async ({ blocks }) => {
  const path = join(folder, "full");
  const content = "x".repeat(5_000);
  await new FencedFile(path).write(holder(1n), content);
  const before = readdirSync(`${path}.fence`);
  for (const [place, token] of [2, 2, 3].entries()) {
    const words = JSON.stringify({ path, tokens: [token], id: `id-${token}` });
    const limited = ["-c", `ulimit -f ${blocks} && exec "$0" "$@"`, process.execPath, program, words];
    const { stdout, stderr } = spawnSync("sh", limited, { encoding: "utf8" });
    expect({ place, stdout, stderr }).toMatchObject({ stdout: "", stderr: expect.stringContaining("EFBIG") });
  }
  // A mark that had room stays, in place of the older ones: its holder has entered.
  const marks = blocks === 0 ? before : before.map((name) => (name.startsWith("fence") ? "fence.3" : name));
  expect(readdirSync(`${path}.fence`).sort()).toEqual(marks.sort());
  expect((await new FencedFile(path).read()).content?.toString()).toBe(content);
  await new FencedFile(path).write(holder(3n), "after");
  expect((await new FencedFile(path).read()).fence).toBe(3n);
});
