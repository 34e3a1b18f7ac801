/** D, as far as resources go: what a fence must do, and what it must not forget. */

import { type Lease, StaleTokenError } from "holdfast";
import { expect } from "vitest";
import { checkFence } from "../../src/history/fence.js";
import { hazardTest as test } from "./hazard-tests.js";
import { type Program, Scene } from "./scene.js";

const TTL_MS = 1_000;

/**
 * Each adds one to a number. `a` is paused between its read and its write; `b` reads while `a` writes, and writes last.
 * Returns the number: 2 when no update was lost, or when one of the two was told that it had none.
 */
async function addOne(
  resource: (
    program: Program,
    lease: Lease,
  ) => { read(): Promise<string | null>; write(value: string): Promise<void> },
) {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const told: unknown[] = [];
  const section = (program: Program, pauseMs: number): void =>
    program.run(async () => {
      const lease = await program.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
      const { read, write } = resource(program, lease);
      const value = Number((await read()) ?? 0);
      if (program === a) program.process.stall(pauseMs);
      else await program.sleep(pauseMs);
      const outcome = await write(String(value + 1)).then(
        () => null,
        (error) => error,
      );
      if (outcome) told.push(outcome);
      else program.note({ f: "write", token: lease.fence, nonce: lease.id });
    });
  section(a, 1_500);
  b.run(async () => {
    await b.sleep(100);
    section(b, 900);
  });
  await scene.until(10_000);
  const writes = scene.operations.filter(({ f }) => f === "write").length;
  return { scene, told, writes };
}

/** The recipe: the fence is a number beside the value, and only a write looks at it. */
const GUARDED_SET = `
  if tonumber(redis.call('HGET', KEYS[1], 'token') or 0) > tonumber(ARGV[1]) then
    return redis.error_reply('STALE_TOKEN')
  end
  redis.call('HSET', KEYS[1], 'token', ARGV[1], 'value', ARGV[2])
  return 'OK'`;

test("a fence that only writes raise loses an update [breaks H62]", async () => {
  const { scene, told, writes } = await addOne((program, lease) => {
    const client = program.client();
    return {
      read: async () => (await client.call("HGET", "number", "value")) as string | null,
      async write(value) {
        await client.call("EVAL", GUARDED_SET, "1", "number", String(lease.fence), value);
      },
    };
  });
  // The fence is content: tokens never fell. The number is not.
  expect(checkFence(scene.operations)).toEqual([]);
  expect([told, writes, scene.node.peek("HGET", "number", "value")]).toEqual([[], 2, "1"]);
});

test("a record that is entered before it is read loses none [H62]", async () => {
  const { scene, told, writes } = await addOne((program, lease) => {
    const record = program.holdfast().record<string>("number");
    return {
      read: async () => (await record.get({ fence: lease }))?.value ?? null,
      write: async (value) => void (await record.put(value, { fence: lease })),
    };
  });
  expect(checkFence(scene.operations)).toEqual([]);
  expect(told).toHaveLength(1);
  expect(told[0]).toBeInstanceOf(StaleTokenError);
  expect([writes, scene.node.peek("HGET", "holdfast:{number}:record:number", "value")]).toEqual([1, 'j"1"']);
});

/** What a fence that follows `admits` does with what comes. */
function visits(
  admits: (seen: bigint, token: bigint) => boolean,
  comers: readonly { readonly token: bigint; readonly nonce: string }[],
) {
  let seen = 0n;
  return comers.map(({ token, nonce }, place) => {
    const type = admits(seen, token) ? ("ok" as const) : ("fail" as const);
    if (type === "ok") seen = token;
    const atMs = place * 10;
    return {
      process: nonce,
      seq: place,
      f: "write",
      key: "it",
      invMs: atMs,
      retMs: atMs + 1,
      type,
      token,
      nonce,
    };
  });
}

test("tokens that are compared as text let an older one in [breaks H63]", () => {
  const comers = [
    { token: 10n, nonce: "b" },
    { token: 9n, nonce: "a" },
  ];
  const byText = visits((seen, token) => String(token) >= String(seen), comers);
  expect(checkFence(byText)).toMatchObject([{ property: "L3" }]);
});

test("a fence that wants more than it has seen refuses its own holder [breaks H63]", () => {
  const comers = [
    { token: 10n, nonce: "a" },
    { token: 10n, nonce: "a" },
  ];
  expect(checkFence(visits((seen, token) => token > seen, comers))).toMatchObject([{ property: "L3" }]);
});

test("a fence that knows only the token serves two holders of an equal one [breaks H63]", () => {
  const comers = [
    { token: 10n, nonce: "a" },
    { token: 10n, nonce: "b" },
  ];
  expect(checkFence(visits((seen, token) => token >= seen, comers))).toMatchObject([{ property: "L3" }]);
});

test("a fence that lives in a process forgets with it [breaks H63]", () => {
  const comers = [
    { token: 10n, nonce: "b" },
    { token: 9n, nonce: "a" },
  ];
  let boots = 0;
  const forgetful = visits((seen, token) => (boots++ === 1 ? true : token >= seen), comers);
  expect(checkFence(forgetful)).toMatchObject([{ property: "L3" }]);
});

test("one holder comes again, another's equal token is refused, at any size, and after a restart of the program [H63]", async () => {
  const scene = await Scene.open();
  const outcomes: unknown[] = [];
  const visit = async (program: Program, fence: bigint, id: string): Promise<void> => {
    const record = program.holdfast().record("it");
    const outcome = await record.put(id, { fence: { fence, id } }).then(
      () => "ok",
      (error) => error,
    );
    const refused = outcome instanceof StaleTokenError;
    expect(refused || outcome === "ok").toBe(true);
    outcomes.push(refused ? outcome.seen : outcome);
    program.note({ f: "write", token: fence, nonce: id, type: refused ? "fail" : "ok" });
  };
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    await visit(a, 9n, "a");
    await visit(a, 10n, "a");
    await visit(a, 10n, "a");
    await visit(a, 9n, "b");
    await visit(a, 2n ** 53n, "a");
    await visit(a, 2n ** 53n + 1n, "a");
    await visit(a, 2n ** 53n, "a");
    a.process.kill();
  });
  b.run(async () => {
    await b.sleep(1_000);
    await visit(b, 2n ** 53n + 1n, "b");
    await visit(b, 2n ** 62n, "b");
  });
  await scene.until(5_000);
  const seen = 2n ** 53n + 1n;
  expect(outcomes).toEqual(["ok", "ok", "ok", 10n, "ok", "ok", seen, seen, "ok"]);
  expect(checkFence(scene.operations)).toEqual([]);
});

/** `a` holds, is overtaken by `b`, and says which token it believes to have. */
async function tokens(tokenOf: (program: Program, lease: Lease) => Promise<bigint>) {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const said: Record<string, bigint> = {};
  const take = async (program: Program, thenMs: number): Promise<void> => {
    const lease = await program.holdfast().mutex("it", { ttl: TTL_MS }).acquire();
    await program.client().call("INCR", "tokens"); // as Redisson's fenced lock counts
    program.process.stall(thenMs);
    said[program.name] = await tokenOf(program, lease);
  };
  a.run(() => take(a, 3_000));
  b.run(async () => {
    await b.sleep(100);
    await take(b, 0);
  });
  await scene.until(10_000);
  return said as { a: bigint; b: bigint };
}

test("a token that is read from the server is the next holder's [breaks H64]", async () => {
  const said = await tokens(async (program) => BigInt(String(await program.client().call("GET", "tokens"))));
  expect(said.a).toBe(said.b);
});

test("a lease keeps its token after it was overtaken [H64]", async () => {
  const said = await tokens(async (_, lease) => lease.fence);
  expect(said.a).toBeLessThan(said.b);
});
