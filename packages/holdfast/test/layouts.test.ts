/**
 * Keys of each layout that a version of holdfast has had, as commands in fixtures/layout-N: this version reads them on. Keys of a layout
 * that it does not know, and keys of another program, stay as they are, and each call says whose they are.
 */
import { readFileSync } from "node:fs";
import { Holdfast, type ServerError } from "holdfast";
import { beforeEach, describe, expect, test } from "vitest";
import { onEngine, redis } from "./engine.js";

type Calls = Readonly<Record<string, (hf: Holdfast) => Promise<unknown>>>;

interface Family {
  /** The key that says the layout, and where it is a hash the field. */
  readonly mark: readonly [key: string, field?: string];
  /** Reads what the fixture holds. */
  readonly read: (hf: Holdfast) => Promise<unknown>;
  readonly expected: unknown;
  readonly calls: Calls;
}

const NOW = { wait: 0 } as const;
const guard = (hf: Holdfast) =>
  hf.guard("login", { hits: 1, per: "1h", penalties: [{ kind: "refuse", for: "1h" }] });

function limitFamily(type: "rolling" | "window" | "sliding" | "lifetime"): Family {
  const limit = (hf: Holdfast) =>
    hf.limit("rides", type === "lifetime" ? { max: 5, type } : { max: 5, per: "1h", type });
  return {
    mark: [`holdfast:{ada}:limit:${type}:rides`],
    read: async (hf) => [(await limit(hf).peek("ada")).remaining, (await limit(hf).take("ada")).remaining],
    expected: [4, 3],
    calls: {
      take: (hf) => limit(hf).take("ada"),
      peek: (hf) => limit(hf).peek("ada"),
      refund: (hf) => limit(hf).refund("ada"),
      set: (hf) => limit(hf).set("ada", 1),
    },
  };
}

const FORMER = 1_795_849_733_000_000n;
const families: Readonly<Record<string, Family>> = {
  lock: {
    mark: ["holdfast:{door}:lock"],
    read: async (hf) => {
      const inspector = await hf.inspector();
      const lease = await hf.mutex("door").acquire();
      await lease.release();
      const { holder } = await inspector.lock("vault");
      return [lease.fence > FORMER, await hf.mutex("vault").tryAcquire(), holder?.process?.label];
    },
    expected: [true, null, "former"],
    calls: {
      acquire: (hf) => hf.mutex("door").acquire({ wait: "1m" }),
      tryAcquire: (hf) => hf.mutex("door").tryAcquire(),
      several: (hf) => hf.multiLock([hf.mutex("door"), hf.mutex("gate{door}")]).tryAcquire(),
      inspect: async (hf) => (await hf.inspector()).lock("door"),
      force: async (hf) => (await hf.inspector()).forceRelease("door"),
    },
  },
  permits: {
    mark: ["holdfast:{pool}:semaphore", "."],
    read: async (hf) => {
      const pool = await (await hf.inspector()).semaphore("pool");
      const lease = await hf.rwLock("book").write().acquire();
      await lease.release();
      return [pool.permits, pool.holders.map((one) => one.process?.label), lease.fence > FORMER];
    },
    expected: [2, ["former"], true],
    calls: {
      acquire: (hf) => hf.semaphore("pool", { permits: 2 }).acquire({ wait: "1m" }),
      tryAcquire: (hf) => hf.semaphore("pool", { permits: 2 }).tryAcquire(),
      setPermits: (hf) => hf.semaphore("pool", { permits: 2 }).setPermits(3),
      inspect: async (hf) => (await hf.inspector()).semaphore("pool"),
    },
  },
  rolling: limitFamily("rolling"),
  window: limitFamily("window"),
  sliding: limitFamily("sliding"),
  lifetime: limitFamily("lifetime"),
  guard: {
    mark: ["holdfast:strikes:3:{ada}:login"],
    read: async (hf) => (await guard(hf).look("ada")).strikes,
    expected: 1,
    calls: { hit: (hf) => guard(hf).hit("ada"), look: (hf) => guard(hf).look("ada") },
  },
  record: {
    mark: ["holdfast:{price}:record:price", "version"],
    read: async (hf) => {
      const before = await hf.record("price").get();
      const { version } = await hf.record("price").put({ a: 2 });
      return [before?.value, before && version > before.version];
    },
    expected: [{ a: 1 }, true],
    calls: {
      get: (hf) => hf.record("price").get(),
      put: (hf) => hf.record("price").put(1),
      update: (hf) => hf.record("price").update(() => 1),
      delete: (hf) => hf.record("price").delete(),
      watch: (hf) => hf.record("price").watch().next(),
      inspect: async (hf) => (await hf.inspector()).record("price"),
    },
  },
  event: {
    mark: ["holdfast:{open}:event", "version"],
    read: async (hf) => (await hf.event("open").wait(NOW))?.data,
    expected: { a: 1 },
    calls: {
      set: (hf) => hf.event("open").set(),
      clear: (hf) => hf.event("open").clear(),
      get: (hf) => hf.event("open").get(),
      wait: (hf) => hf.event("open").wait(),
      delete: (hf) => hf.event("open").delete(),
    },
  },
  latch: {
    mark: ["holdfast:{start}:latch", "version"],
    read: async (hf) => (await hf.latch("start", 3).countDown()).count,
    expected: 1,
    calls: {
      countDown: (hf) => hf.latch("start", 3).countDown(),
      count: (hf) => hf.latch("start", 3).count(),
      wait: (hf) => hf.latch("start", 3).wait(),
      reset: (hf) => hf.latch("start", 3).reset(),
      delete: (hf) => hf.latch("start", 3).delete(),
    },
  },
  barrier: {
    mark: ["holdfast:{step}:barrier", "version"],
    read: async (hf) => (await hf.barrier("step", 2).get()).generation,
    expected: 1_795_849_733_900_180n,
    calls: {
      wait: (hf) => hf.barrier("step", 2).wait(),
      get: (hf) => hf.barrier("step", 2).get(),
      delete: (hf) => hf.barrier("step", 2).delete(),
    },
  },
  signal: {
    mark: ["holdfast:{rain}:signal", "holdfast:inbox:AmPpYte1dJCi3ry5AAjHPw"],
    read: async (hf) => [
      (await (await hf.inspector()).signal("rain")).hearing,
      await hf.signal("rain").emit(),
    ],
    expected: [1, 1],
    calls: {
      emit: (hf) => hf.signal("rain").emit(),
      emitOne: (hf) => hf.signal("rain").emitOne(),
      inspect: async (hf) => (await hf.inspector()).signal("rain"),
    },
  },
  queue: {
    mark: ["holdfast:{mail}:queue", "last"],
    read: async (hf) => {
      const queue = hf.queue("mail");
      const message = await queue.pop(NOW);
      const { id } = await queue.push(1);
      return [message?.body, message && id > message.id, (await queue.dead()).map((letter) => letter.body)];
    },
    expected: [{ a: 1 }, true, [{ a: 2 }]],
    calls: {
      push: (hf) => hf.queue("mail").push(1),
      pop: (hf) => hf.queue("mail").pop(),
      receive: (hf) => hf.queue("mail").receive(),
      peek: (hf) => hf.queue("mail").peek(),
      inFlight: (hf) => hf.queue("mail").inFlight(),
      delayed: (hf) => hf.queue("mail").delayed(),
      cancel: (hf) => hf.queue("mail").cancel("1795849733918112"),
      state: (hf) => hf.queue("mail").state(),
      pause: (hf) => hf.queue("mail").pause(),
      drain: (hf) => hf.queue("mail").drain(),
      dead: (hf) => hf.queue("mail").dead(),
      redrive: (hf) => hf.queue("mail").redrive({ all: true }),
    },
  },
  lanes: {
    mark: ["holdfast:{jobs}:lanes", "last"],
    read: async (hf) => {
      const lanes = hf.lanes("jobs");
      const delivery = await lanes.receive(NOW);
      await delivery?.ack();
      return [delivery?.body, delivery?.lane];
    },
    expected: [{ a: 1 }, "x"],
    calls: {
      push: (hf) => hf.lanes("jobs").push("x", 1),
      receive: (hf) => hf.lanes("jobs").receive(),
      position: (hf) => hf.lanes("jobs").position("1795849733948047@x"),
      cancel: (hf) => hf.lanes("jobs").cancel("1795849733948047@x"),
      peek: (hf) => hf.lanes("jobs").peek("x"),
      inFlight: (hf) => hf.lanes("jobs").inFlight(),
      state: (hf) => hf.lanes("jobs").state(),
      lane: (hf) => hf.lanes("jobs").lane("x"),
      pause: (hf) => hf.lanes("jobs").pause({ all: true }),
      drain: (hf) => hf.lanes("jobs").drain({ all: true }),
      dead: (hf) => hf.lanes("jobs").dead(),
      redrive: (hf) => hf.lanes("jobs").redrive({ all: true }),
    },
  },
  place: {
    mark: ["holdfast:place"],
    read: async (hf) => hf.signal("nobody").emit(),
    expected: 0,
    calls: { emit: (hf) => hf.signal("new").emit() },
  },
};

const fixture = readFileSync(new URL("fixtures/layout-1/commands.txt", import.meta.url), "utf8");

onEngine(() => {});
beforeEach(async () => {
  await redis.flushall();
  for (const line of fixture.split("\n")) {
    const words = line.match(/'[^']*'|\S+/g)?.map((word) => word.replace(/^'|'$/g, ""));
    if (words?.[0] && !line.startsWith("#")) await redis.call(words[0], ...words.slice(1));
  }
});

/** Writes another value where the layout stands. */
async function rewrite([key, field]: Family["mark"], rewritten: (value: string) => string): Promise<void> {
  if (field !== undefined) {
    await redis.hset(key, field, rewritten((await redis.hget(key, field)) ?? ""));
  } else if ((await redis.type(key)) === "list") {
    await redis.lset(key, -1, rewritten((await redis.lindex(key, -1)) ?? ""));
  } else {
    await redis.set(key, rewritten((await redis.get(key)) ?? ""), "KEEPTTL");
  }
}

/** Every key with its value and its end. Ids of places and of requests are not of a family. */
async function everything(): Promise<Record<string, unknown>> {
  const keys = (await redis.keys("*")).sort();
  const rows = keys.map(async (key) => [key, [await redis.dump(key), await redis.call("PEXPIRETIME", key)]]);
  return Object.fromEntries(await Promise.all(rows));
}

describe.each(Object.entries(families))("%s", (_, { mark, read, expected, calls }) => {
  const each = async (of: Partial<ServerError>, message: RegExp): Promise<void> => {
    const before = await everything();
    for (const [name, call] of Object.entries(calls)) {
      const hf = new Holdfast(redis);
      await expect(call(hf), name).rejects.toMatchObject({ code: "SERVER_ERROR", ...of });
      await expect(call(hf), name).rejects.toThrow(message);
      await hf.close();
      expect(await everything(), name).toEqual(before);
    }
  };

  test("keys of layout 1 are read on", async () => {
    const hf = new Holdfast(redis);
    expect(await read(hf)).toEqual(expected);
    await hf.close();
  });

  test("keys of another layout stay as they are, and each call names both layouts", async () => {
    await rewrite(mark, (value) => `@2 ${value}`);
    await each(
      { serverCode: "LAYOUT", passing: false },
      /has layout 2, and this version reads layout 1.*docs\//,
    );
  });

  test("keys of another program stay as they are, and each call says so", async () => {
    await rewrite(mark, () => "something else");
    await each({ serverCode: "WRONGTYPE", passing: false }, /WRONGTYPE/);
  });
});

test("a key of another program that has the name of the place's keeps its end", async () => {
  await redis.flushall();
  await redis.set("holdfast:place", "of somebody else, who keeps it");
  const hf = new Holdfast(redis);
  await hf.event("e").wait({ wait: 10 });
  await expect(hf.signal("s").emit()).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
  await hf.close();
  expect(await redis.pttl("holdfast:place")).toBe(-1);
});
