/**
 * A script is all or nothing, also where the server refuses one of its commands: a right that its user has not, a key of another program,
 * memory. Each script, in states that the workloads reached, with each of its commands and keys refused in turn.
 */
import { readFileSync } from "node:fs";
import { workloads } from "@holdfast/lab/sim";
import { beforeAll, expect, it } from "vitest";
import type { Entry } from "./contents.js";
import { type Call, reachedBy, scriptNames } from "./reached.js";
import { type Refusal, type Seen, Trial } from "./trial.js";
import { wrongIn } from "./verdict.js";

const SEEDS = 30;
/** States of each script that lead it through the same commands. */
const STATES = 2;
const LONG_MS = 600_000;

const calls: { readonly call: Call; readonly plain: Seen }[] = [];
const ways = new Map<string, number>();
/** By clients and by scripts. */
const sent = new Set<string>();
let trial: Trial;

beforeAll(async () => {
  trial = await Trial.create();
}, LONG_MS);

/** Keeps those that lead a script through commands that few of the others have. */
function keep(found: readonly Call[]): void {
  for (const call of found) {
    const plain = trial.run(call, { kind: "none" });
    for (const command of plain.sent) sent.add(command);
    const way = `${call.script.name} ${[...new Set(plain.sent)].join(" ")}`;
    const count = (ways.get(way) ?? 0) + 1;
    ways.set(way, count);
    if (count <= STATES) calls.push({ call, plain });
  }
}

it.each(workloads.map(({ name }) => name))(
  `%s keeps its rules on seeds 1 to ${SEEDS}`,
  { timeout: LONG_MS },
  async (name) => {
    const broken: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { calls: found, commands, failures } = await reachedBy(name, seed);
      for (const command of commands) sent.add(command);
      for (const { property, message } of failures)
        broken.push(`${property}: ${message} (npm run lab -- --workload ${name} --seed ${seed})`);
      keep(found);
    }
    expect(broken).toEqual([]);
  },
);

/** They only read. */
const notReached = ["limits/lua/look", "records/lua/look", "signals/lua/look"];

it("has states of every script", () => {
  const reached = new Set(calls.map(({ call }) => call.script.name));
  expect([...scriptNames.values()].filter((name) => !reached.has(name)).sort()).toEqual(notReached);
});

/** Of connections, which the line of the guide allows together; of patterns, which need a right of their own; and for people, who look with more rights than a program needs. */
const besides = ["AUTH", "CLIENT", "HELLO", "PING", "SELECT", "PSUBSCRIBE", "PUNSUBSCRIBE", "SCAN"];

it("sends nothing that the ACL line of the guide to Redis leaves out", () => {
  const guide = readFileSync(new URL("../../../../docs/guides/redis.md", import.meta.url), "utf8");
  const line = /^user \S+ on .*$/m.exec(guide)?.[0] ?? "";
  const allowed = [...line.matchAll(/ \+([a-z]+)/g)].map(([, command = ""]) => command.toUpperCase());
  expect([...sent].filter((command) => ![...allowed, ...besides].includes(command))).toEqual([]);
});

it("has done all of it or nothing, whatever is refused [H50]", { timeout: LONG_MS }, () => {
  const wrong = new Map<string, string>();
  for (const { call, plain } of calls)
    for (const refusal of refusalsOf(call, plain)) {
      const found = wrongIn(call, plain, refusal, trial.run(call, refusal));
      const what = `${call.script.name}, ${nameOf(call, refusal)}`;
      if (found !== undefined && !wrong.has(what)) wrong.set(what, `${found} (${call.from})`);
    }
  expect(Object.fromEntries(wrong)).toEqual({});
});

it("finds the half of a script that does not ask for its rights", () => {
  const found = new Set<string>();
  for (const { call, plain } of calls)
    for (const refusal of refusalsOf(call, plain)) {
      if (refusal.kind !== "command" || found.has(call.script.name)) continue;
      const seen = trial.run(call, { ...refusal, isUnasked: true });
      if (wrongIn(call, plain, refusal, seen) !== undefined) found.add(call.script.name);
    }
  const asking = calls.flatMap(({ call: { script } }) =>
    script.source.includes("need(") ? [script.name] : [],
  );
  // The others write but once in the states that were reached.
  expect(found.size).toBeGreaterThan(0.8 * new Set(asking).size);
});

/** Bodies are what users make of them. */
const withBodies = /:(off|letters|line)$|:lane:/;
const VALUES = 3;

function valuesOf({ key, type, content }: Entry) {
  if (type === "zset" || withBodies.test(key)) return [];
  const places = [...content.keys()].filter((place) => type !== "hash" || place % 2 === 1);
  return places.slice(0, VALUES).map((place) => ({ kind: "value", key, place }) as const);
}

const tagOf = (key: string): string => /\{.*?\}/.exec(key)?.[0] ?? "";

function refusalsOf({ keys, contents }: Call, { sent }: Seen): Refusal[] {
  const commands = [...new Set(sent)];
  return [
    ...commands.map((command) => ({ kind: "command", command }) as const),
    ...keys.map((key) => ({ kind: "key", key }) as const),
    ...contents.flatMap(valuesOf).filter(({ key }) => keys.some((own) => tagOf(own) === tagOf(key))),
    { kind: "memory" },
  ];
}

function nameOf({ keys, contents }: Call, refusal: Refusal): string {
  if (refusal.kind === "value") {
    const { type, content } = contents.find(({ key }) => key === refusal.key) as Entry;
    return `"?" in ${refusal.key} ${type === "hash" ? content[refusal.place - 1] : refusal.place}`;
  }
  if (refusal.kind === "command") return refusal.command;
  return refusal.kind === "key" ? `KEYS[${keys.indexOf(refusal.key) + 1}] of another type` : refusal.kind;
}
