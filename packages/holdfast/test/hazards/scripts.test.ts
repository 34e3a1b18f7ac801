/** Whatever the server, another program or an argument does to a script: it is all or nothing. In virtual time. */
import { type Node, type Reply, ReplyError, World } from "@holdfast/lab";
import { expect, test } from "vitest";
import { callsOf, LOCK, looksInScripts, type ScriptCall } from "./scripts-at-hand.js";

const ME = "me";
const OTHER = "other";

function send(node: Node, { source, keys, args }: ScriptCall): Reply | undefined {
  return node.peek("EVAL", source, String(keys.length), ...keys, ...args);
}

function by(who: string, title: string): ScriptCall {
  return callsOf(who).find((call) => call.title === title) as ScriptCall;
}

/** What a lock can be when a script comes to it, made by the scripts themselves. */
const STATES: Readonly<Record<string, readonly (ScriptCall | "lapse")[]>> = {
  free: [],
  "given back": [by(ME, "acquire"), by(ME, "release")],
  mine: [by(ME, "acquire")],
  "mine, another waits": [by(ME, "acquire"), by(OTHER, "acquire and wait")],
  "another's": [by(OTHER, "acquire")],
  "another's, I wait": [by(OTHER, "acquire"), by(ME, "acquire and wait")],
  "lapsed, I wait": [by(OTHER, "acquire"), by(ME, "acquire and wait"), "lapse"],
  "lapsed, another waits": [by(ME, "acquire"), by(OTHER, "acquire and wait"), "lapse"],
  "free, I was banned": [by(ME, "release and ban")],
  "the record is mine": [by(ME, "write")],
};

/** All that the server keeps. */
function everything(node: Node): Record<string, Reply> {
  const keys = (node.peek("KEYS", "*") as string[]).sort();
  return Object.fromEntries(keys.map((key) => [key, [contents(node, key), node.peek("PTTL", key) as Reply]]));
}

function contents(node: Node, key: string): Reply {
  const read: Readonly<Record<string, readonly string[]>> = {
    string: ["GET", key],
    list: ["LRANGE", key, "0", "-1"],
    hash: ["HGETALL", key],
    zset: ["ZRANGE", key, "0", "-1", "WITHSCORES"],
  };
  return node.peek(...(read[String(node.peek("TYPE", key))] ?? [])) as Reply;
}

async function eachCall(
  change: (
    node: Node,
    call: ScriptCall,
  ) => readonly { readonly title: string; readonly call?: ScriptCall; make(): void; undo(): void }[],
  judge: (place: string, reply: Reply, before: object, after: object) => void,
): Promise<number> {
  const node = (await World.create({ seed: 1 })).node("redis");
  let count = 0;
  for (const [state, steps] of Object.entries(STATES)) {
    for (const call of callsOf(ME)) {
      for (const { title, call: changed = call, make, undo } of change(node, call)) {
        node.peek("FLUSHALL");
        for (const step of steps) {
          if (step === "lapse") node.peek("PEXPIRE", LOCK[0] ?? "", "86400000");
          else send(node, step);
        }
        make();
        const before = everything(node);
        const reply = send(node, changed) as Reply;
        judge(`${call.title}; ${state}; ${title}`, reply, before, everything(node));
        undo();
        count += 1;
      }
    }
  }
  return count;
}

/** A reply by which a script for many says that it did nothing for one. */
function saysNothingDone(place: string, reply: Reply): boolean {
  if (reply instanceof ReplyError) return true;
  const said = JSON.stringify(reply);
  if (place.startsWith("beat")) return said === "[[3]]";
  if (place.startsWith("give")) return said === "[0]";
  if (place.startsWith("renew")) return /^\[(0|-1),/.test(said);
  if (place.startsWith("take")) return said.startsWith("[");
  return place.startsWith("look");
}

function expectNothing(place: string, reply: Reply, before: object, after: object): void {
  if (saysNothingDone(place, reply)) expect([place, after]).toEqual([place, before]);
}

test("a script that writes first and fails second leaves half of its work [breaks H49]", async () => {
  const node = (await World.create({ seed: 1 })).node("redis");
  node.peek("SET", "line", "of another program");
  const source = "redis.call('SET', KEYS[1], 'mine') redis.call('RPUSH', KEYS[2], 'me') return 1";
  expect(node.peek("EVAL", source, "2", "it", "line")).toBeInstanceOf(ReplyError);
  expect(node.peek("GET", "it")).toBe("mine");
});

test("a foreign type under any key of any script: nothing is written [H49]", async () => {
  const count = await eachCall(
    (node, { keys }) =>
      keys.map((key) => ({
        title: key,
        make() {
          node.peek("DEL", key);
          if (key === LOCK[0]) node.peek("RPUSH", key, "foreign");
          else node.peek("SET", key, "foreign");
        },
        undo() {},
      })),
    (place, reply, before, after) => {
      expectNothing(place, reply, before, after);
      const [, , key = ""] = place.split("; ");
      const [was, is] = [before, after] as Record<string, Reply>[];
      expect([place, is?.[key]]).toEqual([place, was?.[key]]);
    },
  );
  expect(count).toBeGreaterThan(200);
});

test("an argument that is none: nothing is written [H49]", async () => {
  const count = await eachCall(
    (_, call) =>
      call.numbers.flatMap((place) =>
        ["", "x"].map((value) => ({
          title: `argument ${place} is ${JSON.stringify(value)}`,
          call: { ...call, args: call.args.with(place, value) },
          make() {},
          undo() {},
        })),
      ),
    expectNothing,
  );
  expect(count).toBeGreaterThan(200);
});

const REFUSALS: readonly (readonly [code: string, on: readonly string[], off: readonly string[]])[] = [
  ["OOM", ["CONFIG", "SET", "maxmemory", "1"], ["CONFIG", "SET", "maxmemory", "0"]],
  [
    "NOREPLICAS",
    ["CONFIG", "SET", "min-replicas-to-write", "1"],
    ["CONFIG", "SET", "min-replicas-to-write", "0"],
  ],
  ["READONLY", ["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]],
];

test("each refusal of the server, for each script: nothing is written [H50]", async () => {
  const seen = new Set<string>();
  await eachCall(
    (node) =>
      REFUSALS.map(([code, on, off]) => ({
        title: code,
        make: () => void node.peek(...on),
        undo: () => void node.peek(...off),
      })),
    (place, reply, before, after) => {
      expectNothing(place, reply, before, after);
      if (!(reply instanceof ReplyError)) return;
      const [, , code = ""] = place.split("; ");
      expect([place, reply.message]).toEqual([place, expect.stringContaining(code)]);
      seen.add(code);
    },
  );
  expect([...seen].sort()).toEqual(["NOREPLICAS", "OOM", "READONLY"]);
});

test("no script looks at the clock twice [H18]", () => {
  for (const [name, looks] of looksInScripts()) expect([name, looks <= 1]).toEqual([name, true]);
});
