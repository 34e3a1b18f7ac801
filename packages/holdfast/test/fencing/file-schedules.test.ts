/** The fenced file under random schedules: several writers, one operation at a time, some of them never going on. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { StaleTokenError } from "holdfast";
import { FencedFile } from "holdfast/fencing/file";
import { afterAll, beforeAll, expect, test } from "vitest";
import { quickFiles as quick, quickFolder } from "./quick-files.js";

let folder: string;
let files = 0;
beforeAll(() => {
  folder = quickFolder();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A writer that does one operation on the disk at each `step()`. */
class Walker {
  ended: "written" | "refused" | null = null;
  #next: (() => void) | null = null;
  #idle: () => void = () => {};

  constructor(path: string, by: { fence: bigint; id: string }) {
    const gated = Object.entries(quick).map(([name, operation]) => [
      name,
      async (...words: never[]) => {
        await new Promise<void>((resolve) => {
          this.#next = resolve;
          this.#idle();
        });
        return operation(...words);
      },
    ]);
    void this.#work(new FencedFile(path, { files: Object.fromEntries(gated) }), by);
  }

  /** Does the operation it waits for, and resolves when it waits for the next one, or has ended. */
  async step(): Promise<void> {
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    this.#next?.();
    await idle;
  }

  async #work(file: FencedFile, by: { fence: bigint; id: string }): Promise<void> {
    try {
      const before = (await file.enter(by))?.toString() ?? "";
      await file.write(by, `${before} ${by.fence}`.trim());
      this.ended = "written";
    } catch (error) {
      if (!(error instanceof StaleTokenError)) throw error;
      this.ended = "refused";
    }
    this.#idle();
  }
}

/** Who came before whom, in the file; its last token is that of its content. */
async function chainIn(file: FencedFile): Promise<number[]> {
  const { content, fence } = await file.read();
  const chain = (content?.toString() ?? "").split(" ").filter(Boolean).map(Number);
  expect(chain.at(-1) ?? 0).toBe(Number(fence));
  expect([...chain].sort((a, b) => a - b)).toEqual(chain);
  return chain;
}

const schedule = fc.record({
  /** Tokens in the order in which their writers stand. */
  tokens: fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 2 }),
  /** Who does the next operations, and how many. */
  turns: fc.array(fc.tuple(fc.nat({ max: 4 }), fc.integer({ min: 1, max: 25 })), {
    minLength: 3,
    maxLength: 20,
  }),
  /** After how many operations a writer is gone; 99 is never. */
  gone: fc.array(fc.oneof(fc.constant(99), fc.nat({ max: 25 })), { minLength: 5, maxLength: 5 }),
});

test("no confirmed update is lost, tokens never fall, and the next holder always gets through", {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(schedule, async ({ tokens, turns, gone }) => {
      const file = new FencedFile(join(folder, String(files++)), { files: quick });
      const walkers = tokens.map(
        (token) => new Walker(file.path, { fence: BigInt(token), id: `id-${token}` }),
      );
      const steps = walkers.map(() => 0);
      let newest = 0;
      const turn = async (at: number) => {
        const walker = walkers[at];
        if (walker === undefined || walker.ended || (steps[at] ?? 0) >= (gone[at] ?? 0)) return false;
        steps[at] = (steps[at] ?? 0) + 1;
        await walker.step();
        const last = (await chainIn(file)).at(-1) ?? 0;
        expect(last).toBeGreaterThanOrEqual(newest);
        newest = last;
        return true;
      };
      for (const [at, count] of turns) for (let step = 0; step < count; step++) await turn(at);
      for (let busy = true; busy; ) {
        busy = false;
        for (const at of walkers.keys()) busy = (await turn(at)) || busy;
      }
      const chain = await chainIn(file);
      const confirmed = tokens.filter((_, at) => walkers[at]?.ended === "written");
      expect(chain).toEqual(expect.arrayContaining(confirmed));
      await file.enter({ fence: 9n, id: "next" });
      await file.write({ fence: 9n, id: "next" }, [...chain, 9].join(" "));
      expect(await chainIn(file)).toEqual([...chain, 9]);
    }),
    { seed: 1, numRuns: 300, endOnFailure: true },
  );
});
