/** What a consumer says while Redis is away. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, onTestFinished, test } from "vitest";
import { IndeterminateError } from "../../src/errors.js";
import { loseAnswers, onEngine, open, type Process, parked } from "./intake-lab.js";

onEngine();

/** Moves the time of a process until something happens, not much faster than that of the server. */
async function moving(process: Process, condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) {
    process.clock.advance(5);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

test("an outage is told once, and the next one again", async () => {
  const here = open();
  const outages: { readonly error: Error }[] = [];
  const listener = (event: unknown): void => void outages.push(event as { error: Error });
  subscribe("holdfast:queue:outage", listener);
  onTestFinished(() => void unsubscribe("holdfast:queue:outage", listener));
  const seen: unknown[] = [];
  let isBack = loseAnswers(here, "take", 0, ["look"]);
  here.intake.consume(async ({ body }) => void seen.push(body), { concurrency: 2 });
  for (const round of [1, 2]) {
    // An answer that was under way would end the outage in its middle, and so would one to a look.
    await moving(here, isBack);
    isBack = loseAnswers(here, "take", 3, ["look"]);
    await open().push(round);
    await moving(here, () => seen.length === round);
    await moving(here, async () => (await parked()) === 0);
  }
  // The server may have carried out a request whose answers are still being lost.
  await moving(here, isBack);
  expect(outages.map(({ error }) => error)).toEqual([1, 2].map(() => expect.any(IndeterminateError)));
});
