/** LockScripts, with a port that the test plays: which calls it makes, and what it makes of refusals. */
import { ManualClock } from "@holdfast/conformance";
import { expect, test } from "vitest";
import { ServerError } from "../src/errors.js";
import { LockScripts } from "../src/locks/backends/redis/lock-scripts.js";
import type { RedisPort } from "../src/redis/port.js";
import { Schedule } from "../src/time/schedule.js";

const NAMES = ["a", "b", "c", "d", "e"];
const holders = NAMES.map((name) => ({ name, id: `id of ${name}` }));

/** @param refuse the server's words for a call with these keys; null: it carries the call out */
function scriptsOver(refuse: (keys: readonly string[]) => string | null, slots = 1) {
  const calls: (readonly string[])[] = [];
  const port: Partial<RedisPort> = {
    slotOf: (key) => (key.charCodeAt("holdfast:{".length) - 97) % slots,
    async script(_script, keys, args) {
      calls.push(keys.map((key) => /\{(.*)\}/.exec(key)?.[1] ?? key));
      const words = refuse(keys);
      if (words !== null) throw new ServerError(words);
      return [...keys.map(() => 1), args[0] ?? ""];
    },
  };
  const schedule = new Schedule(new ManualClock());
  const context = {
    port: port as RedisPort,
    prefix: "holdfast",
    owner: "{}",
    callTimeoutMs: 1_000,
    schedule,
  };
  return { scripts: new LockScripts(context), calls };
}

test.each([
  "NOPERM no permission for this key",
  "ERR a module refuses this key",
  "WRONGTYPE of another program",
])("a name that the server refuses for good does not cost the others their leases: %s", async (words) => {
  const { scripts } = scriptsOver((keys) => (keys.some((key) => key.includes("{b}")) ? words : null));
  expect(await scripts.renew(holders, 1_000)).toEqual([
    "renewed",
    "unknown",
    "renewed",
    "renewed",
    "renewed",
  ]);
  await expect(scripts.renew(holders.slice(1, 2), 1_000)).rejects.toBeInstanceOf(ServerError);
});

test("a refusal that passes is one of the whole batch", async () => {
  const { scripts, calls } = scriptsOver(() => "LOADING Redis is loading the dataset in memory");
  await expect(scripts.renew(holders, 1_000)).rejects.toBeInstanceOf(ServerError);
  expect(calls).toEqual([NAMES]);
});

test("leases of several slots are renewed slot by slot, and answered in their order", async () => {
  const { scripts, calls } = scriptsOver(
    (keys) => (keys.some((key) => key.includes("{b}")) ? "ERR no" : null),
    2,
  );
  const outcomes = await scripts.renew(holders, 1_000);
  expect(calls.slice(0, 2)).toEqual([
    ["a", "c", "e"],
    ["b", "d"],
  ]);
  expect(outcomes).toEqual(["renewed", "unknown", "renewed", "renewed", "renewed"]);
});
