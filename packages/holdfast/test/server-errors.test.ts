/** Each refusal of a server is made to happen on real ones, and reaches the caller as docs/errors.md says. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { needing, program as programOf, ServerProcess, type ServerTerms, until } from "@holdfast/conformance";
import { Holdfast, type HoldfastEvents, ServerError } from "holdfast";
import { Redis, type RedisOptions } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockKeys } from "../src/redis/keys.js";

const programs = [
  ["redis-server", programOf("redis-server")],
  ["valkey-server", programOf("valkey-server")],
] as const;
const WAIT_MS = 10_000;
const NOBODY = ["127.0.0.1", "1"] as const;

let server: ServerProcess;
let admin: Redis;
let hf: Holdfast;
let names = 0;
let endings: (() => Promise<unknown>)[];

const newName = (): string => `name-${++names}`;
const lockKey = (name: string): string => lockKeys("holdfast", name)[0] as string;

async function start(terms: ServerTerms): Promise<ServerProcess> {
  const started = await ServerProcess.start(terms);
  endings.push(() => started.stop());
  return started;
}

function clientOf({ port, host }: ServerProcess, options: Omit<RedisOptions, "replyMapping"> = {}): Redis {
  const client = new Redis({ port, host, retryStrategy: () => 10, ...options });
  client.on("error", () => {});
  endings.push(async () => client.disconnect());
  return client;
}

function holdfastOf(target: ServerProcess, options: Omit<RedisOptions, "replyMapping"> = {}): Holdfast {
  const holdfast = new Holdfast(clientOf(target, options));
  endings.push(() => holdfast.close());
  return holdfast;
}

const full = (maxmemory: string): Promise<unknown> => admin.config("SET", "maxmemory", maxmemory);

const refusalOf = async (promise: Promise<unknown>): Promise<ServerError> =>
  promise.then(
    () => expect.fail("it was not refused"),
    (reason) => {
      expect(reason).toBeInstanceOf(ServerError);
      return reason;
    },
  );

/** A try is refused; a wait is refused at once, or goes on until `mend`, by what the code means. */
async function expectRefusal(serverCode: string, mend: () => Promise<unknown>, holdfast = hf): Promise<void> {
  const error = await refusalOf(holdfast.mutex(newName()).tryAcquire());
  expect(error).toMatchObject({ code: "SERVER_ERROR", serverCode });
  expect(error.remedy).not.toBe(null);
  expect(error.message).toContain(error.remedy);
  // A refusal that passes lets the wait go on to its end, which a busy machine must not reach before the answer.
  const waitMs = error.passing ? 500 : WAIT_MS;
  expect((await refusalOf(holdfast.mutex(newName()).acquire({ wait: waitMs }))).serverCode).toBe(serverCode);
  if (error.passing) {
    const wait = holdfast.mutex(newName()).acquire({ wait: WAIT_MS });
    await refusalOf(holdfast.mutex(newName()).tryAcquire()); // the wait was refused before this
    await mend();
    expect(await (await wait).release()).toBe("released");
  } else {
    await mend();
  }
  const lease = await holdfast.mutex(newName()).acquire({ wait: WAIT_MS });
  expect(await lease.release()).toBe("released");
}

describe.each(programs)("%s", (title, program) => {
  needing(describe, title)("refuses", () => {
    beforeEach(async () => {
      endings = [];
      server = await start({ program });
      admin = clientOf(server);
      hf = holdfastOf(server);
    });

    afterEach(async () => {
      for (const end of endings.reverse()) await end();
    });

    test.each([
      ["a command", "+@all -evalsha -eval"],
      ["a command that a script needs", "+@all -set"],
      ["the keys", "+@all resetkeys ~other:*"],
    ])("a user without %s: NOPERM", async (_what, rules) => {
      const allowed = "on >secret ~* &* +@all".split(" ");
      await admin.call("ACL", "SETUSER", "weak", "reset", ...allowed, ...rules.split(" "));
      const weak = holdfastOf(server, { username: "weak", password: "secret" });
      await expectRefusal("NOPERM", () => admin.call("ACL", "SETUSER", "weak", ...allowed), weak);
    });

    test("a user who may not listen waits for nothing: NOPERM", async () => {
      await admin.call("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "resetchannels", "+@all");
      const deaf = holdfastOf(server, { username: "deaf", password: "secret" });
      const name = newName();
      const lease = await hf.mutex(name).acquire();
      const refused = deaf.mutex(name).acquire({ wait: WAIT_MS });
      await expect(refused).rejects.toMatchObject({ serverCode: "NOPERM" });
      await lease.release();
    });

    test("a text of another program under the key: told as plainly", async () => {
      const name = newName();
      await admin.set(lockKey(name), "theirs");
      for (const waitMs of [0, WAIT_MS]) {
        const refused = await refusalOf(hf.mutex(name).acquire({ wait: waitMs }));
        expect(refused).toMatchObject({ serverCode: "WRONGTYPE", passing: false });
        expect(refused.message).toContain("prefix");
        expect(refused.message).not.toMatch(/user_script|[0-9a-f]{40}/);
      }
      expect(await admin.get(lockKey(name))).toBe("theirs");
    });

    test("a key of another program: WRONGTYPE, and the key stays as it is", async () => {
      const name = newName();
      await admin.rpush(lockKey(name), "theirs");
      await expect(hf.mutex(name).tryAcquire()).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
      const waiting = hf.mutex(name).acquire({ wait: WAIT_MS });
      await expect(waiting).rejects.toMatchObject({ serverCode: "WRONGTYPE" });
      expect(await admin.lrange(lockKey(name), 0, -1)).toEqual(["theirs"]);
    });

    const again = "holdfast:{jobs}:queue:again";
    test.each([
      ["no right to a later command", "NOPERM", "on >pw ~* &* +@all -zadd", () => {}, () => {}],
      ["no right to send messages", undefined, "on >pw ~* resetchannels +@all", () => {}, () => {}],
      ["a key of another type", "WRONGTYPE", "", () => admin.set(again, "theirs"), () => admin.del(again)],
      ["no memory", undefined, "", () => full("1"), () => full("0")],
    ])(
      "with %s a script does all or nothing: no message is lost, none is doubled [H50]",
      async (_what, code, rules, make, mend) => {
        await admin.call("ACL", "SETUSER", "half", ...(rules || "on >pw ~* &* +@all").split(" "));
        const half = holdfastOf(server, { username: "half", password: "pw" }).queue<number>("jobs");
        const queue = hf.queue<number>("jobs");
        const bodies: number[] = [];
        const consumeBy = (process: Holdfast) =>
          process.queue<number>("jobs").consume(({ body }) => void bodies.push(body), { concurrency: 20 });
        const consumers = [consumeBy(hf)];
        await queue.pause();
        await queue.pushMany([1, 2, 3]);
        await make();
        const resumed = half.resume();
        if (code === undefined) await resumed;
        else expect((await refusalOf(resumed)).serverCode).toBe(code);
        await mend();
        // The first process may have met the refusal, and then its consumers end.
        consumers.push(consumeBy(holdfastOf(server)));
        if (code !== undefined) {
          expect(await queue.state()).toMatchObject({ waiting: 3, inFlight: 0 });
          await queue.resume();
        }
        await until("all are handled", () => bodies.length >= 3);
        for (const consumer of consumers) await consumer.stop();
        expect(bodies.sort()).toEqual([1, 2, 3]);
      },
    );

    test("no memory left: OOM; what is held can be given back [H50]", async () => {
      const lease = await hf.mutex(newName()).acquire();
      await admin.config("SET", "maxmemory", "1");
      await expectRefusal("OOM", async () => {
        expect(await lease.release()).toBe("released");
        await admin.config("SET", "maxmemory", "0");
      });
    });

    test("a replica: READONLY [H29]", async () => {
      await admin.replicaof(...NOBODY);
      await expectRefusal("READONLY", () => admin.replicaof("NO", "ONE"));
    });

    test("a replica that has lost its primary and serves no old data: MASTERDOWN", async () => {
      await admin.config("SET", "replica-serve-stale-data", "no");
      await admin.replicaof(...NOBODY);
      await expectRefusal("MASTERDOWN", () => admin.replicaof("NO", "ONE"));
    });

    test("too few replicas in step: NOREPLICAS", async () => {
      await admin.config("SET", "min-replicas-to-write", "1");
      await expectRefusal("NOREPLICAS", () => admin.config("SET", "min-replicas-to-write", "0"));
    });

    test("a save that failed: MISCONF", async () => {
      mkdirSync(join(server.folder, "dump.rdb")); // a folder in the place of the file
      await admin.config("SET", "save", "3600 1");
      await admin.bgsave();
      await until("a save has failed", async () =>
        (await admin.info("persistence")).includes("rdb_last_bgsave_status:err"),
      );
      await expectRefusal("MISCONF", () => admin.config("SET", "save", ""));
    });

    test("a script that does not end: BUSY", async () => {
      await admin.config("SET", "busy-reply-threshold", "1");
      const endless = clientOf(server).eval("while true do end", 0);
      const killed = expect(endless).rejects.toThrow(/killed/i);
      await until("the server is busy", async () => {
        const answer = await admin.ping().catch((error: Error) => error.message);
        return answer.startsWith("BUSY");
      });
      await expectRefusal("BUSY", () => admin.script("KILL"));
      await killed;
    });

    test("a start with much data: LOADING", async () => {
      await admin.eval("for n = 1, 4000 do redis.call('SET', 'k' .. n, string.rep('x', 100)) end", 0);
      await admin.config("SET", "rdbcompression", "no");
      await admin.save();
      const slow = ["--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024"];
      const options = ["--dir", server.folder, ...slow];
      const loading = await start({ program, options, ready: /Server initialized/ });
      const boss = clientOf(loading, { enableReadyCheck: false });
      const holdfast = holdfastOf(loading, { enableReadyCheck: false });
      await expectRefusal("LOADING", () => boss.config("SET", "key-load-delay", "0"), holdfast);
    });

    test("a node of a cluster without the slot: CLUSTERDOWN", async () => {
      const holdfast = holdfastOf(await start({ program, cluster: true }));
      const tried = await refusalOf(holdfast.mutex("x").tryAcquire());
      // Connected by now: a short wait may end before a first connection is up.
      const waited = await refusalOf(holdfast.mutex("y").acquire({ wait: 1_000 }));
      for (const error of [tried, waited])
        expect(error).toMatchObject({ serverCode: "CLUSTERDOWN", passing: true });
    });

    test("a password that is missing or wrong: NOAUTH, WRONGPASS", async () => {
      await admin.config("SET", "requirepass", "secret");
      const anonymous = holdfastOf(server, { enableReadyCheck: false });
      expect((await refusalOf(anonymous.mutex("x").tryAcquire())).serverCode).toBe("NOAUTH");
      const mistaken = holdfastOf(server, { password: "wrong" });
      expect((await refusalOf(mistaken.mutex("x").tryAcquire())).serverCode).toBe("WRONGPASS");
    });

    test("a renewal is told of, and tried until the lease is over; a release stays unknown", async () => {
      const unknown: Error[] = [];
      const note = (message: unknown): void => {
        unknown.push((message as HoldfastEvents["holdfast:lock:renewal-unknown"]).error);
      };
      const lease = await hf.mutex(newName(), { ttl: 1_000 }).acquire();
      const other = await hf.mutex("other").acquire();
      subscribe("holdfast:lock:renewal-unknown", note);
      await admin.replicaof(...NOBODY);
      await new Promise((resolve) => lease.signal.addEventListener("abort", resolve));
      unsubscribe("holdfast:lock:renewal-unknown", note);
      expect(lease.signal.reason).toMatchObject({ code: "LEASE_LOST", reason: "expired" });
      expect(unknown.length).toBeGreaterThan(1);
      for (const error of unknown) expect(error).toMatchObject({ serverCode: "READONLY" });
      expect(await other.release()).toBe("unknown");
      await admin.replicaof("NO", "ONE");
      const next = await hf.mutex("other").acquire({ wait: WAIT_MS }); // released in the background
      expect(await next.release()).toBe("released");
    });
  });
});
