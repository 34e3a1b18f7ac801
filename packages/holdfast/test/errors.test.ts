/** The catalogue, its documentation, and what both promise. */
import { readFileSync } from "node:fs";
import * as holdfast from "holdfast";
import { expect, test } from "vitest";

const SAMPLES: holdfast.HoldfastError[] = [
  new holdfast.InvalidArgumentError("ttlMs", "must be positive"),
  new holdfast.UnsupportedClientError("x"),
  new holdfast.ClientNotInstalledError("x"),
  new holdfast.ClientOverloadedError("x"),
  new holdfast.UnavailableError("x"),
  new holdfast.ClosedError("acquire was called"),
  new holdfast.AcquireTimeoutError("l", 5, null),
  new holdfast.LeaseLostError("l", 1n, "expired"),
  new holdfast.LeaseReleasedError("l", 1n),
  new holdfast.UpgradeRefusedError("l", 1n),
  new holdfast.DeadlockError([{ noun: "mutex", name: "l", owner: null, fence: 1n }]),
  new holdfast.CountMismatchError("latch", "l", 3, 5),
  new holdfast.ArrivalLapsedError("b", 1n),
  new holdfast.StaleTokenError("r", 1n, 2n),
  new holdfast.ConflictError("r", { expected: 1n, version: 2n, value: 3 }),
  new holdfast.OnceFailedError("k", { name: "Error", message: "m", code: null }),
  new holdfast.ResultNotStoredError({ key: "k", fence: 1n, value: 1, reason: "overtaken" }),
  new holdfast.QueueFullError("q", 5, 5),
  new holdfast.DeliveryLostError("q", "1", 2n, "taken"),
  new holdfast.OrderMismatchError("q", "fifo", "lifo"),
  new holdfast.NoQuorumError("l", 2, 3, []),
  new holdfast.NotVotingError("1", "unreachable", "x"),
  new holdfast.NotOverQuorumError("limit", "x"),
  new holdfast.StaleHolderError("r", "a", "b"),
  new holdfast.MissingRowError("r"),
  new holdfast.IndeterminateError("x"),
  new holdfast.ServerError("OOM x"),
];

test("where in a script the server met the error is left out of the message", () => {
  const reply = `WRONGTYPE Operation against a key script: ${"0a".repeat(20)}, on @user_script:20.`;
  expect(new holdfast.ServerError(reply).message).toMatch(/: WRONGTYPE Operation against a key \(another/);
});

test("every exported error class has a sample here", () => {
  const classesOf = (module: object): string[] =>
    Object.keys(module).filter((name) => name.endsWith("Error") && name !== "HoldfastError");
  expect(SAMPLES.map((error) => error.name).sort()).toEqual(classesOf(holdfast).sort());
});

test("codes are unique, and docs/errors.md has them, before those of another package, each with its class and a remedy", () => {
  const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const sections = page.split(/^## /m).slice(1);
  const own = sections.filter((section) => !section.includes("`@holdfast/compat/"));
  const documented = own.map((section) => section.split("\n", 1)[0]);
  expect(documented).toEqual([...new Set(SAMPLES.map((error) => error.code))]);
  expect(sections.slice(0, own.length)).toEqual(own);
  for (const [place, section] of own.entries()) {
    expect(section).toContain(`\`${SAMPLES[place]?.name}\``);
    expect(section).toContain("**Remedy:**");
  }
});

test.each([
  ["WRONGTYPE Operation against a key", "WRONGTYPE", /prefix/],
  ["LAYOUT k has layout 2, and this version reads layout 1", "LAYOUT", /versions-side-by-side/],
  ["LOADING x", "LOADING", /wait/],
  ["ERR ACL failure in script: No permissions to access a key", "NOPERM", /guide/],
  [
    "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -OOM command not allowed",
    "OOM",
    /maxmemory/,
  ],
  [
    "ERR Error running script (call to f_0): @user_script:20: WRONGTYPE Operation against",
    "WRONGTYPE",
    /prefix/,
  ],
  [
    "ERR Error running script (call to f_0): @user_script:1: The user executing the script can't run",
    "NOPERM",
    /guide/,
  ],
  ["ERR max number of clients reached", "ERR", /maxclients/],
  ["ERR unknown command 'EVALSHA'", "ERR", /newer/],
])("the refusal '%s' is %s, with its remedy", (reply, serverCode, remedy) => {
  const error = new holdfast.ServerError(reply);
  expect(error.serverCode).toBe(serverCode);
  expect(error.message).toContain(reply);
  expect(error.message).toMatch(remedy);
  expect(error.remedy).toMatch(remedy);
});

test("a refusal that nobody knows has no remedy, and will not pass", () => {
  expect(new holdfast.ServerError("ODD x")).toMatchObject({ remedy: null, passing: false });
});

test("docs/errors.md has what each refusal means [H50]", () => {
  const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| (`[A-Z`, ]+`) +\|.*\| (yes|no) +\|/gm)];
  expect(rows.length).toBeGreaterThan(10);
  for (const [, codes = "", passing] of rows) {
    for (const [code] of codes.matchAll(/[A-Z]{3,}/g)) {
      const error = new holdfast.ServerError(`${code} x`);
      expect([code, error.passing]).toEqual([code, passing === "yes"]);
      expect([code, error.remedy === null]).toEqual([code, false]);
    }
  }
});
