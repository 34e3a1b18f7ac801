/** C: servers that run full, are emptied, blocked, or refuse. Each hazard breaks a recipe here, and does not break holdfast. */
import { readdirSync, readFileSync } from "node:fs";
import { IndeterminateError, type Lease, ServerError } from "holdfast";
import { expect } from "vitest";
import { checkIntervals } from "../../src/history/intervals.js";
import { checkTokens } from "../../src/history/tokens.js";
import { hazardTest as test } from "./hazard-tests.js";
import { NaiveLock } from "./naive.js";
import { failure, heard, type Program, Scene } from "./scene.js";
import { broken, countedToken, type Fault, leaseOf, twoCounters, twoLeases } from "./successors.js";

test("a write that one replica has confirmed is gone when another is promoted [breaks H44]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const [confirms, lags] = [scene.world.node("confirms"), scene.world.node("lags")];
  a.run(async () => {
    const lock = new NaiveLock(a);
    await lock.client.call("PING");
    lags.promote(scene.node.remember()); // as far as it had come
    await lock.acquire();
    confirms.promote(scene.node.remember()); // WAIT 1 would say 1 now
  });
  await scene.until(500);
  expect([confirms.peek("GET", "it"), lags.peek("GET", "it")]).toEqual(["a", null]);
});

test("no page promises what WAIT cannot keep [H44]", () => {
  const root = new URL("../../../../", import.meta.url);
  expect(readFileSync(new URL("docs/guides/redis.md", root), "utf8")).toMatch(
    /`WAIT` makes that less\s+likely, but locks are\s+no\s+safer with it/,
  );
  const pages = readdirSync(new URL("docs/", root), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md") && file !== "hazards.md")
    .map((file) => `docs/${file}`);
  for (const file of ["README.md", "ARCHITECTURE.md", ...pages]) {
    const text = readFileSync(new URL(file, root), "utf8");
    const claim = /guarantees mutual exclusion|exactly once|(WAIT|Redlock) (makes \w+ safe|is safe)/.exec(
      text,
    );
    expect([file, claim?.[0]]).toEqual([file, undefined]);
  }
});

test("a ttl that counts from its arrival at the replica ends later than the primary's [breaks H46]", async () => {
  const scene = await Scene.open();
  const replica = scene.world.node("replica");
  const command = ["SET", "it", "a", "PX", "1000"] as const;
  scene.node.peek(...command);
  scene.world.at(700, () => replica.peek(...command)); // as it was sent on before 7.0: a ttl, not a time
  await scene.until(1_500);
  expect([scene.node.peek("EXISTS", "it"), replica.peek("EXISTS", "it")]).toEqual([0, 1]);
});

/** Fills a small server with other keys, until it has evicted what was there. */
function crowdOut({ node }: Scene): void {
  const used = Number(/used_memory:(\d+)/.exec(String(node.peek("INFO", "memory")))?.[1]);
  node.peek("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
  node.peek("CONFIG", "SET", "maxmemory", String(used + 200_000));
  for (let n = 0; n < 3_000; n++) node.peek("SET", `other:${n}`, "x".repeat(400));
  node.peek("CONFIG", "SET", "maxmemory", "0");
}

test("allkeys-lru evicts a lock and its counter [breaks H47]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(() => countedToken(a));
  scene.world.at(1_000, () => crowdOut(scene));
  await scene.until(2_000);
  expect(scene.node.peek("EXISTS", "it", "it:tokens")).toBe(0);
});

test("an evicted lock: its holder hears that it was forgotten, and the next token is larger [H47]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  const leases: Lease[] = [];
  a.run(() => leaseOf(a, leases));
  b.run(async () => {
    await b.sleep(6_000);
    await leaseOf(b, leases);
  });
  scene.world.at(1_000, () => crowdOut(scene));
  await scene.until(8_000);
  expect(leases[0]?.signal.reason).toMatchObject({ reason: "forgotten" });
  expect(leases).toHaveLength(2);
  expect(checkTokens(scene.operations)).toEqual([]);
});

const flush: Fault = ({ node }) => void node.peek("FLUSHALL");

test("after FLUSHALL a counter of tokens begins at 1 [breaks H48]", async () => {
  expect(broken(await twoCounters(flush))).toContain("L1");
});

test("after FLUSHALL tokens rise; a token that is ahead of the clock is told [H48]", async () => {
  const ahead = heard("holdfast:lock:token-ahead");
  await twoLeases(flush);
  expect(ahead).toEqual([]);
  const scene = await Scene.open();
  const a = scene.program("a");
  a.run(async () => {
    const mutex = a.holdfast().mutex("it", { localTurns: 1 });
    await (await mutex.acquire()).release();
    await a.sleep(2_000 - a.nowMs);
    await (await mutex.acquire()).release();
  });
  // A year ahead for a second, and back: a grant was made meanwhile.
  const yearMs = 31_536_000_000;
  scene.world.at(0, () => scene.node.valkey.clock.step(yearMs));
  scene.world.at(1_000, () => scene.node.valkey.clock.step(-yearMs));
  await scene.until(5_000);
  expect(ahead).toMatchObject([{ lock: "it" }]);
  expect(ahead[0]?.aheadMs).toBeGreaterThan(yearMs - 10_000);
});

/** A script of another program keeps the server busy for six seconds. */
const block: Fault = ({ world, node }) => {
  node.pause();
  world.at(world.nowMs + 6_000, () => node.resume());
};

test("a timer that assumes success believes in its lock while the server was blocked [breaks H51]", async () => {
  const scene = await Scene.open();
  const [a, b] = [scene.program("a"), scene.program("b")];
  a.run(async () => {
    const lock = new NaiveLock(a, { ttlMs: 2_000 });
    await lock.acquire();
    const fromMs = a.nowMs;
    const timer = setIntervalOn(a, 700, () => void lock.extend()); // and nobody looks at the answer
    await a.sleep(10_000);
    timer();
    a.note({ f: "hold", invMs: fromMs, retMs: a.nowMs, endMs: a.nowMs });
  });
  b.run(async () => {
    await b.sleep(2_000);
    await new NaiveLock(b, { ttlMs: 2_000 }).acquire();
    b.note({ f: "hold", retMs: b.nowMs + 2_000, endMs: b.nowMs + 2_000 });
  });
  scene.world.at(1_000, () => block(scene));
  await scene.until(15_000);
  expect(checkIntervals(scene.operations)).toMatchObject([{ property: "L4" }]);
});

function setIntervalOn(program: Program, everyMs: number, run: () => void): () => void {
  let cancel = (): void => {};
  const again = (): void => {
    run();
    cancel = program.process.after(everyMs, again);
  };
  cancel = program.process.after(everyMs, again);
  return () => cancel();
}

test("a server that is blocked for seconds: every lease is told lost before another holds it [H51]", async () => {
  const scene = await Scene.open();
  const lost = heard("holdfast:lock:lost");
  const [a, b] = [scene.program("a"), scene.program("b")];
  const names = Array.from({ length: 20 }, (_, place) => `it ${place}`);
  const take = async (program: Program): Promise<void> => {
    const hf = program.holdfast();
    await Promise.all(
      names.map(async (name) => {
        const lease = await hf.mutex(name, { ttl: 2_000 }).acquire({ wait: 30_000 });
        const invMs = program.nowMs;
        const { signal } = lease;
        if (program === a) await new Promise((resolve) => signal.addEventListener("abort", resolve));
        else await program.sleep(100);
        program.note({ f: "hold", key: name, invMs, retMs: program.nowMs, endMs: program.nowMs });
      }),
    );
  };
  a.run(() => take(a));
  b.run(async () => {
    await b.sleep(500);
    await take(b);
  });
  scene.world.at(1_000, () => block(scene));
  await scene.until(20_000);
  expect(scene.operations).toHaveLength(2 * names.length);
  expect(checkIntervals(scene.operations)).toEqual([]);
  expect(lost.filter(({ reason }) => reason === "expired").length).toBeGreaterThanOrEqual(names.length);
});

test("a client's error does not say whether the command was carried out [breaks H50]", async () => {
  const messages: string[] = [];
  for (const loss of ["before", "after"] as const) {
    const scene = await Scene.open();
    const a = scene.program("a");
    a.run(async () => {
      const client = a.client({ unanswered: "reject" });
      await client.call("PING");
      a.link().loseNext(loss);
      messages.push((await failure(client.call("SET", "it", "a"))).message);
    });
    await scene.until(1_000);
    expect(scene.node.peek("EXISTS", "it")).toBe(loss === "after" ? 1 : 0);
  }
  expect(messages[0]).toBe(messages[1]);
});

const REPLIES = [
  "NOPERM x",
  "NOAUTH x",
  "WRONGPASS x",
  "DENIED x",
  "WRONGTYPE x",
  "READONLY x",
  "MASTERDOWN x",
  "NOREPLICAS x",
  "OOM x",
  "MISCONF x",
  "LOADING x",
  "BUSY x",
  "CLUSTERDOWN x",
  "TRYAGAIN x",
  "MOVED 1 x",
  "ASK 1 x",
  "CROSSSLOT x",
  "ERR x",
  "NEWCODE x",
];

test("each refusal of the server is a ServerError, no answer an IndeterminateError [H50]", async () => {
  const scene = await Scene.open();
  const a = scene.program("a");
  const refused: Record<string, unknown> = {};
  const unknown: Record<string, unknown> = {};
  a.run(async () => {
    const hf = a.holdfast({ client: { unanswered: "reject" } });
    const calls = {
      try: () => hf.mutex("it").tryAcquire(),
      acquire: () => hf.mutex("it").acquire({ wait: 300 }),
      enter: () => hf.record("it").get({ fence: { fence: 1n, id: "a" } }),
      write: () => hf.record("it").put("v", { fence: { fence: 1n, id: "a" } }),
    };
    await hf.mutex("other").tryAcquire();
    for (const [title, call] of Object.entries(calls)) {
      for (const error of REPLIES) {
        scene.node.refusal = { error, share: 1 };
        const outcome = await failure(call());
        expect([title, error, outcome]).toEqual([title, error, expect.any(ServerError)]);
        refused[`${title} ${(outcome as ServerError).serverCode}`] = outcome;
      }
      scene.node.refusal = null;
      a.link().block("toProcess");
      unknown[title] = await failure(call());
      a.link().unblock("toProcess");
      await a.sleep(3_000);
    }
  });
  await scene.until(200_000);
  expect(Object.keys(refused)).toHaveLength(4 * REPLIES.length);
  expect(Object.keys(unknown)).toEqual(["try", "acquire", "enter", "write"]);
  for (const error of Object.values(unknown)) {
    expect(error).toBeInstanceOf(IndeterminateError);
  }
});
