// A process that adds one to a row's balance again and again, with every second token. It prints how many additions were admitted.
import { createRequire } from "node:module";
import { StaleTokenError } from "holdfast";
import { FencedTable, onSqlite, TokenFence } from "holdfast/fencing/sql";

const [driver, file, id, first] = process.argv.slice(2);
const exported = createRequire(import.meta.url)(driver);
const Database = exported.DatabaseSync ?? exported;
const table = new FencedTable(
  new TokenFence({ dialect: "sqlite", table: "account" }),
  onSqlite(new Database(file, { timeout: 10_000 })),
);
let [token, added] = [BigInt(first), 0];
for (let tries = 0; tries < 60; tries++) {
  const by = { fence: token, id: `writer-${first}` };
  token += 2n;
  try {
    const { balance } = await table.enter({ id }, by, ["balance"]);
    await table.write({ id }, by, { balance: Number(balance) + 1 });
    added++;
  } catch (error) {
    if (!(error instanceof StaleTokenError)) throw error;
    while (token <= error.seen) token += 2n;
  }
}
console.log(added);
