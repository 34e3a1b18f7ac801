/** What the process is warned of when nobody listens: a failed handler, too many stuck ones, a consumer that has ended. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { OrderMismatchError } from "../../src/errors.js";
import { onEngine, open, parked, until } from "./intake-lab.js";

onEngine();

let warnings: string[];

beforeEach(() => {
  warnings = [];
  vi.spyOn(process, "emitWarning").mockImplementation((text, options) => {
    warnings.push(`${(options as { code?: string } | undefined)?.code}: ${String(text)}`);
  });
});

const fail = (): never => {
  throw new Error("no\npaper");
};

test("the first failure that nobody hears is a warning of the process; one that is heard is none", async () => {
  const here = open();
  const heard: unknown[] = [];
  const first = here.intake.consume(fail, { onFailed: (error) => void heard.push(error) });
  await here.push("a");
  await until(() => heard.length === 1);
  expect(warnings).toEqual([]);
  await first.stop();
  here.intake.consume(fail, { backoff: 0 });
  await here.push("b", "c");
  await until(() => warnings.length > 0);
  expect(warnings).toEqual([
    expect.stringMatching(
      /^HOLDFAST_UNHEARD: a handler of "queue .+" failed, .*: "no\\npaper"; pass onFailed/,
    ),
  ]);
});

test("a handler that returns what JSON cannot carry has done its work: no second attempt, no result, an event and a warning", async () => {
  const here = open();
  const [events, listener] = [[] as unknown[], (event: unknown): void => void events.push(event)];
  subscribe("holdfast:queue:unstored", listener);
  onTestFinished(() => void unsubscribe("holdfast:queue:unstored", listener));
  let calls = 0;
  here.intake.consume(() => {
    calls += 1;
    return new Map();
  }, {});
  const [id = ""] = await here.push("a");
  await until(async () => events.length === 1 && (await parked()) === 0);
  expect([calls, await here.scripts.result(id)]).toEqual([1, null]);
  expect(events).toMatchObject([{ id, error: { message: expect.stringMatching(/^result must be JSON/) } }]);
  expect(warnings).toEqual([
    expect.stringMatching(/^HOLDFAST_UNSTORED: .+ done without a result: "result must/),
  ]);
});

test("a consumer that ends is a warning where nobody asked for `done`, and ends no process", async () => {
  await open({ order: "fifo" }).push("a");
  const unheard = open({ order: "lifo" }).intake.consume(fail, {});
  const heard = open({ order: "lifo" }).intake.consume(fail, {});
  await expect(heard.done).rejects.toBeInstanceOf(OrderMismatchError);
  await until(() => warnings.length > 0);
  await unheard.stop();
  expect(warnings).toEqual([expect.stringMatching(/^HOLDFAST_ENDED: a consumer of "queue .+" has ended: /)]);
});
