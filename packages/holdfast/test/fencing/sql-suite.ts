/** What a fenced table promises, as cases for every driver and builder. */
import { MissingRowError, StaleHolderError, StaleTokenError } from "holdfast";
import {
  FencedTable,
  HolderFence,
  type RunStatement,
  type SqlDialect,
  TokenFence,
} from "holdfast/fencing/sql";
import { expect, test } from "vitest";

export interface Subject {
  readonly dialect: SqlDialect;
  readonly placeholders?: "numbered" | "question";
  /** Runs a statement on its own. */
  readonly run: RunStatement;
}

let rows = 0;
/** A name of no other case. */
export const newRow = () => ({ id: `row ${rows++}` });

export const holder = (fence: bigint, id = `id-${fence}`) => ({ fence, id });

/** Statements that make the tables: one with a token, one with a holder only. */
export function schemaFor(dialect: SqlDialect): string[] {
  const columns = "(id varchar(100) PRIMARY KEY, balance bigint NOT NULL DEFAULT 0)";
  return [
    `CREATE TABLE account ${columns}`,
    new TokenFence({ dialect, table: "account" }).migration(),
    `CREATE TABLE purse ${columns}`,
    new HolderFence({ dialect, table: "purse" }).migration(),
  ];
}

function tokenTable({ dialect, placeholders, run }: Subject): FencedTable {
  return new FencedTable(new TokenFence({ dialect, table: "account", placeholders }), run);
}

function holderTable({ dialect, placeholders, run }: Subject): FencedTable {
  return new FencedTable(new HolderFence({ dialect, table: "purse", placeholders }), run);
}

/** @param subject asked for inside of a test, when the server runs */
export function fenceSuite(subject: () => Subject): void {
  test("a paused holder is refused, and told which token overtook it", async () => {
    const [table, row] = [tokenTable(subject()), newRow()];
    await table.create(row, { balance: 100 });
    expect(await table.enter(row, holder(33n), ["balance"])).toEqual({ balance: expect.anything() });
    await table.enter(row, holder(34n));
    await table.write(row, holder(34n), { balance: 50 });
    const refusal = expect.objectContaining({ resource: `account id=${row.id}`, token: 33n, seen: 34n });
    await expect(table.write(row, holder(33n), { balance: 99 })).rejects.toThrow(refusal);
    await expect(table.enter(row, holder(33n))).rejects.toThrow(StaleTokenError);
    expect(String((await table.enter(row, holder(34n), ["balance"])).balance)).toBe("50");
  });

  test("a reader who writes later is refused because the newer one entered, not wrote [H62]", async () => {
    const [table, row] = [tokenTable(subject()), newRow()];
    await table.create(row);
    await table.enter(row, holder(1n), ["balance"]);
    await table.enter(row, holder(2n), ["balance"]);
    await expect(table.write(row, holder(1n), { balance: 1 })).rejects.toThrow(StaleTokenError);
  });

  test("one holder writes as often as it likes, the same value too; another's equal token is refused [H63]", async () => {
    const [table, row] = [tokenTable(subject()), newRow()];
    await table.create(row);
    for (const balance of [1, 1, 2]) {
      await table.enter(row, holder(5n, "Ab"));
      await table.write(row, holder(5n, "Ab"), { balance });
    }
    for (const other of ["aB", "ab", "Ab_", "Ac"]) {
      await expect(table.enter(row, holder(5n, other))).rejects.toThrow(StaleTokenError);
      await expect(table.write(row, holder(5n, other), { balance: 9 })).rejects.toThrow(StaleTokenError);
    }
  });

  test("tokens are exact beyond 2^53, up to 2^63 - 1", async () => {
    const [table, row] = [tokenTable(subject()), newRow()];
    await table.create(row);
    for (const token of [2n ** 53n, 2n ** 63n - 2n]) {
      await table.enter(row, holder(token + 1n));
      const refusal = expect.objectContaining({ token, seen: token + 1n });
      await expect(table.write(row, holder(token), { balance: 1 })).rejects.toThrow(refusal);
    }
    await table.write(row, holder(2n ** 63n - 1n), { balance: 1 });
  });

  test("a row that is not there is said, and create() leaves one alone that is", async () => {
    const [table, row] = [tokenTable(subject()), newRow()];
    await expect(table.enter(row, holder(1n))).rejects.toThrow(MissingRowError);
    await expect(table.write(row, holder(1n), { balance: 1 })).rejects.toThrow(MissingRowError);
    await table.create(row, { balance: 5 });
    await table.write(row, holder(1n), { balance: 6 });
    await table.create(row, { balance: 5 });
    expect(String((await table.enter(row, holder(1n), ["balance"])).balance)).toBe("6");
  });

  test("a statement of one's own is confirmed: refused, let through, or nothing to do", async () => {
    const { run, dialect, placeholders } = subject();
    const fence = new TokenFence({ dialect, table: "account", placeholders });
    const [table, row] = [new FencedTable(fence, run), newRow()];
    await table.create(row, { balance: 10 });
    const take = (amount: number, by: { fence: bigint; id: string }) =>
      run(fence.sql`UPDATE account SET balance = balance - ${amount}, ${fence.raise(by)}
        WHERE id = ${row.id} AND balance >= ${amount} AND ${fence.admits(by)}`);
    await table.enter(row, holder(2n));
    expect(await table.confirm(await take(7, holder(2n)), row, holder(2n))).toBe(1);
    expect(await table.confirm(await take(7, holder(2n)), row, holder(2n))).toBe(0);
    // The row has never seen the newest lease, whose statement was admitted all the same.
    expect(await table.confirm(await take(7, holder(3n)), row, holder(3n))).toBe(0);
    await expect(table.confirm(await take(1, holder(1n)), row, holder(1n))).rejects.toThrow(StaleTokenError);
  });

  test("a key that names several rows is said", async () => {
    const [table, amount] = [tokenTable(subject()), 1_000_000 + rows++];
    for (const row of [newRow(), newRow()]) await table.create(row, { balance: amount });
    await expect(table.enter({ balance: amount }, holder(1n))).rejects.toThrow("named 2 rows");
  });

  test("compare-and-set on the holder: who entered last writes, whoever that is", async () => {
    const [table, row] = [holderTable(subject()), newRow()];
    await table.create(row);
    await expect(table.write(row, holder(1n), { balance: 1 })).rejects.toThrow(StaleHolderError);
    await table.enter(row, holder(1n), ["balance"]);
    await table.enter(row, holder(1n), ["balance"]);
    await table.enter(row, holder(2n), ["balance"]);
    const refusal = expect.objectContaining({ holder: "1:id-1", seen: "2:id-2" });
    await expect(table.write(row, holder(1n), { balance: 1 })).rejects.toThrow(refusal);
    for (const balance of [3, 3]) await table.write(row, holder(2n), { balance });
    // There is no order in it: the late one may enter, and then the rightful one is refused.
    await table.enter(row, holder(1n));
    await expect(table.write(row, holder(2n), { balance: 4 })).rejects.toThrow(StaleHolderError);
    await expect(table.enter(newRow(), holder(1n))).rejects.toThrow(MissingRowError);
  });
}

/**
 * Holders add one to the balance, each by reading and then writing, under tokens handed out in order but used by
 * several at a time: as if every lease ran out at once. No update may be lost, and none may overtake a newer one.
 */
export async function raceOf(subject: Subject): Promise<void> {
  const [table, row] = [tokenTable(subject), newRow()];
  await table.create(row);
  let [next, added] = [1n, 0];
  const adding = async () => {
    for (let tries = 0; tries < 25; tries++) {
      const by = holder(next++);
      try {
        const { balance } = await table.enter(row, by, ["balance"]);
        await table.write(row, by, { balance: Number(balance) + 1 });
        added++;
      } catch (error) {
        if (!(error instanceof StaleTokenError)) throw error;
        expect(error.seen).toBeGreaterThan(error.token);
      }
    }
  };
  await Promise.all([adding(), adding(), adding(), adding()]);
  const { balance } = await table.enter(row, holder(next), ["balance"]);
  expect(Number(balance)).toBe(added);
  expect(added).toBeGreaterThan(0); // nobody overtakes the last token
}
