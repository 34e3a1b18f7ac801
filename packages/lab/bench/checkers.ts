/**
 * What the checkers cost, on histories of the ideal lock and on columns: `npm run bench:checkers -w @holdfast/lab`.
 * Each figure is the median of three runs. Exit code 1 when a target is missed.
 */
import {
  checkIntervals,
  checkMutexOrder,
  checkTokenColumns,
  checkTokens,
  type Operation,
  type TokenColumns,
} from "../src/index.js";
import { IdealRun } from "../test/history/ideal-lock.js";

const GRANTS = 5_000_000;
const OBJECTS = 1_000_000;
const OPERATIONS = 100_000;
const CLIENTS = 30;

function main(): void {
  // A history is in the order of beginnings, so as many as ask at once are out of the order of tokens.
  const near = columns(GRANTS, CLIENTS);
  measure("tokens, columns, as 30 clients ask", GRANTS, 1_000, () => checkTokenColumns(near).length === 0);
  const mixed = columns(GRANTS, GRANTS);
  measure(
    "tokens, columns, in no order at all",
    GRANTS,
    undefined,
    () => checkTokenColumns(mixed).length === 0,
  );
  const grants = objects(OBJECTS);
  measure("tokens, objects", OBJECTS, undefined, () => checkTokens(grants).length === 0);
  measure("intervals, objects", OBJECTS, undefined, () => checkIntervals(grants).length === 0);

  for (const trouble of [0, 0.05]) {
    const { operations } = new IdealRun({
      seed: 1,
      clients: CLIENTS,
      operations: OPERATIONS * 2,
      trouble,
    }).run();
    const locking = operations.filter(({ f }) => f === "acquire" || f === "release");
    const name = `an order, ${CLIENTS} clients, ${trouble * 100} % trouble`;
    measure(`${name}, valid`, locking.length, 2_000, () => checkMutexOrder(locking).length === 0);
    const broken = [...locking, stranger(locking)];
    measure(`${name}, broken`, broken.length, 2_000, () => checkMutexOrder(broken).length === 1);
  }
}

/** Grants a millisecond apart, each asked for ten milliseconds before; rows are out of order among `span` neighbours. */
function columns(rows: number, span: number): TokenColumns {
  const invMs = new Float64Array(rows);
  const retMs = new Float64Array(rows);
  const token = new BigUint64Array(rows);
  for (let at = 0; at < rows; at++) {
    const first = at - (at % span);
    // A prime that divides no span in use: every row once.
    const row = first + (((at % span) * 7_368_787) % Math.min(span, rows - first));
    invMs[row] = at;
    retMs[row] = at + 10;
    token[row] = 1_700_000_000_000_000n + BigInt(at) * 1000n;
  }
  return { invMs, retMs, token };
}

function objects(rows: number): Operation[] {
  const { invMs, retMs, token } = columns(rows, CLIENTS);
  return Array.from({ length: rows }, (_, row) => ({
    process: `w${row % CLIENTS}`,
    seq: row,
    f: "acquire",
    key: "lock",
    invMs: invMs[row]!,
    retMs: retMs[row]!,
    type: "ok",
    token: token[row]!,
    endMs: retMs[row]! + 0.5,
  }));
}

/** Somebody gives back what he never had, near the end. */
function stranger(operations: readonly Operation[]): Operation {
  const atMs = operations.at(-100)!.invMs;
  const release = { f: "release", key: "lock", invMs: atMs, retMs: atMs, type: "ok" } as const;
  return { ...release, process: "stranger", seq: 0 };
}

function measure(name: string, rows: number, targetMs: number | undefined, isRight: () => boolean): void {
  const times = [0, 0, 0].map(() => {
    const started = process.cpuUsage();
    const startMs = performance.now();
    if (!isRight()) throw new Error(`${name}: wrong verdict`);
    const tookMs = performance.now() - startMs;
    const { user, system } = process.cpuUsage(started);
    return { tookMs, cpuMs: (user + system) / 1000 };
  });
  const { tookMs, cpuMs } = times.sort((a, b) => a.tookMs - b.tookMs)[1]!;
  const isMissed = targetMs !== undefined && tookMs > targetMs;
  const target = targetMs === undefined ? "" : `target ${targetMs} ms${isMissed ? ", MISSED" : ""}`;
  const columns = [
    name.padEnd(40),
    rows.toLocaleString("en").padStart(10),
    `${tookMs.toFixed(0).padStart(7)} ms`,
    `${cpuMs.toFixed(0).padStart(7)} ms of CPU`,
    target,
  ];
  console.log(columns.join("  ").trimEnd());
  if (isMissed) process.exitCode = 1;
}

main();
