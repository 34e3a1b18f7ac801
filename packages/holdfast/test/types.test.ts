/** The types refuse what the library would refuse as soon as it is called: each call here is refused by both. */
import {
  type GuardOptions,
  Holdfast,
  InvalidArgumentError,
  type LimitOptions,
  type LimitType,
} from "holdfast";
import { FencedTable, TokenFence } from "holdfast/fencing/sql";
import { afterAll, expect, expectTypeOf, test } from "vitest";

const hf = new Holdfast("redis://127.0.0.1:1"); // never asked
afterAll(() => hf.close());

test("a limit has a period unless it is a lifetime, and the options of its type", () => {
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error `per` is missing
    () => hf.limit("a", { max: 1 }),
    // @ts-expect-error `per` is missing
    () => hf.limit("a", { type: "window", max: 1 }),
    // @ts-expect-error a lifetime has no period
    () => hf.limit("a", { type: "lifetime", max: 1, per: "1m" }),
    // @ts-expect-error `max` is missing
    () => hf.limit("a", { per: "1m" }),
    // @ts-expect-error `burst` is for gcra
    () => hf.limit("a", { max: 1, per: "1m", burst: 2 }),
    // @ts-expect-error a sliding limit has no blocks
    () => hf.limit("a", { type: "sliding", max: 1, per: "1m", block: 2 }),
    // @ts-expect-error misspelt
    () => hf.limit("a", { max: 1, per: "1m", brust: 2 }),
  ];
  for (const call of wrong) expect(call).toThrow(InvalidArgumentError);
  const right: readonly LimitOptions[] = [
    { max: 1, per: "1m", type: undefined, burst: undefined },
    { max: 1, per: "1m", type: "gcra", burst: 2, block: 5 },
    { max: 1, per: 60_000, type: "sliding", block: 0 },
    { max: 1, type: "lifetime", per: undefined },
  ];
  for (const options of right) hf.limit("a", options);
  const type = "window" as Exclude<LimitType, "lifetime">;
  hf.limit("a", { type, max: 1, per: "1m" });
});

test("a guard has at least one penalty", () => {
  const common = { hits: 1, per: "1m" } as const;
  // @ts-expect-error no penalty
  expect(() => hf.guard("g", { ...common, penalties: [] })).toThrow(InvalidArgumentError);
  // @ts-expect-error `penalties` is missing
  expect(() => hf.guard("g", common)).toThrow(InvalidArgumentError);
  const two: GuardOptions["penalties"] = [
    { kind: "postpone", for: "1m" },
    { kind: "refuse", for: "1h" },
  ];
  hf.guard("g", { ...common, penalties: two });
});

interface Account {
  readonly id: number;
  readonly balance: number;
  readonly owner: string | null;
}

test("a row is named by values that equal something, and has no undefined values", async () => {
  const fence = new TokenFence({ dialect: "postgres", table: "account" });
  const holder = { fence: 1n, id: "one" };
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error NULL equals nothing
    () => fence.enter({ id: null }, holder),
    // @ts-expect-error an object names no row
    () => fence.enter({ id: { id: 1 } }, holder),
    // @ts-expect-error a list names no row
    () => fence.read({ id: [1, 2] }),
    // @ts-expect-error a value is missing
    () => fence.write({ id: 1 }, holder, { balance: undefined }),
  ];
  for (const call of wrong) expect(call).toThrow(InvalidArgumentError);
  fence.write({ id: new Uint8Array([1]), at: new Date(0) }, holder, { owner: null, tags: ["a"], done: true });
});

test("a table with a type of its rows knows their columns", async () => {
  const fence = new TokenFence({ dialect: "postgres", table: "account" });
  const row = { rowCount: 1, rows: [{ balance: 5 }] };
  const [typed, plain] = [
    new FencedTable<Account>(fence, async () => row),
    new FencedTable(fence, async () => row),
  ];
  const holder = { fence: 1n, id: "one" };
  const { balance } = await typed.enter({ id: 13 }, holder, ["balance"]);
  expectTypeOf(balance).toEqualTypeOf<number>();
  expect(balance).toBe(5);
  expectTypeOf((await plain.enter({ id: 13 }, holder, ["balance"])).balance).toEqualTypeOf<unknown>();
  await typed.write({ id: 13 }, holder, { balance: 4, owner: null });
  // @ts-expect-error the rows have no such column
  await typed.write({ id: 13 }, holder, { blance: 4 });
  // @ts-expect-error the column is a number
  await typed.write({ id: 13 }, holder, { balance: "4" });
  // @ts-expect-error the rows have no such column
  await typed.enter({ id: 13 }, holder, ["blance"]);
  // @ts-expect-error a column of the key is a number
  await typed.create({ id: "13" });
});
