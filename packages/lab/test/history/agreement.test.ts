/** Two checkers that judge the same thing in different ways judge alike, on histories right and wrong. */
import { describe, expect, test } from "vitest";
import { Dice } from "../../src/chance/dice.ts";
import {
  type Call,
  checkFence,
  checkIntervals,
  checkMutexOrder,
  checkTokens,
  findOrder,
  type Operation,
} from "../../src/index.ts";
import { fenceHistory, fenceSaysSo, hasOrder, mutexHistory, tokenHistory } from "./small-histories.ts";

const HISTORIES = 10_000;

describe("two opinions", () => {
  test("the search for an order and the sweep over intervals, where every outcome is known", () => {
    compare(
      (dice) => mutexHistory(dice, true),
      (operations) => checkMutexOrder(operations).length === 0,
      (operations) => checkIntervals(operations).length === 0,
    );
  });

  test("the search for an order and every order tried, where outcomes are unknown and leases run out", () => {
    compare(
      (dice) => mutexHistory(dice, false),
      (operations) => checkMutexOrder(operations).length === 0,
      hasOrder,
    );
  });

  test("the search for an order of rising tokens, and the tokens in one sweep", () => {
    compare(
      tokenHistory,
      (operations) => checkTokens(operations).length === 0,
      (operations) => findOrder(tokenCalls(operations), rising).verdict === "explained",
    );
  });

  test("the fence asked again, and the fence's rules one by one", () => {
    compare(
      fenceHistory,
      (operations) => checkFence(operations, { placeOf: ({ value }) => Number(value) }).length === 0,
      fenceSaysSo,
    );
  });
});

const rising = {
  initial: 0n,
  step: (last: bigint, { operation }: Call<bigint>) =>
    operation.token! > last ? operation.token : undefined,
};

function tokenCalls(operations: readonly Operation[]): Call<bigint>[] {
  return operations
    .filter(({ token }) => token !== undefined)
    .map((operation) => {
      const retMs = operation.type === "ok" ? operation.retMs! : Infinity;
      return { operation, invMs: operation.invMs, retMs, isCertain: true };
    });
}

type Opinion = (operations: readonly Operation[]) => boolean;

function compare(draw: (dice: Dice) => Operation[], one: Opinion, other: Opinion): void {
  const verdicts = { right: 0, wrong: 0 };
  for (let seed = 1; seed <= HISTORIES; seed++) {
    const operations = draw(new Dice(seed));
    const isRight = one(operations);
    if (isRight !== other(operations)) {
      expect.fail(`seed ${seed}: ${isRight ? "right and wrong" : "wrong and right"}\n${show(operations)}`);
    }
    verdicts[isRight ? "right" : "wrong"]++;
  }
  // Opinions that never differ within themselves agree easily.
  expect(Math.min(verdicts.right, verdicts.wrong)).toBeGreaterThan(HISTORIES / 20);
}

function show(operations: readonly Operation[]): string {
  return operations
    .map(
      (one) =>
        `${one.process} ${one.f} ${one.type} ${one.invMs}..${one.retMs} ${one.token} ${one.validUntilMs}`,
    )
    .join("\n");
}
