/**
 * A server that refuses for a while: it has no memory, cannot save, lacks replicas, or is a replica. Whoever runs it mends it. Meanwhile no
 * wait of any noun ends, and afterwards each gets what it waits for.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { anyProgram, ManualClock, outcome, ServerProcess, until } from "@holdfast/conformance";
import { Holdfast, ServerError } from "holdfast";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { WAITS } from "./waits.js";

interface Refusal {
  readonly code: string;
  readonly cause: (admin: Redis, server: ServerProcess) => Promise<unknown>;
  readonly mend: (admin: Redis) => Promise<unknown>;
}

const REFUSALS: readonly Refusal[] = [
  {
    code: "OOM",
    cause: (admin) => admin.config("SET", "maxmemory", "1"),
    mend: (admin) => admin.config("SET", "maxmemory", "0"),
  },
  {
    code: "NOREPLICAS",
    cause: (admin) => admin.config("SET", "min-replicas-to-write", "1"),
    mend: (admin) => admin.config("SET", "min-replicas-to-write", "0"),
  },
  {
    code: "READONLY",
    cause: (admin) => admin.replicaof("127.0.0.1", "1"),
    mend: (admin) => admin.replicaof("NO", "ONE"),
  },
  {
    code: "MISCONF",
    async cause(admin, { folder }) {
      mkdirSync(join(folder, "dump.rdb")); // a folder in the place of the file
      await admin.config("SET", "save", "3600 1");
      await admin.bgsave();
      await until("a save has failed", async () =>
        (await admin.info("persistence")).includes("rdb_last_bgsave_status:err"),
      );
    },
    mend: (admin) => admin.config("SET", "save", ""),
  },
];

const HOUR_MS = 3_600_000;
/** Twice that is less than a lease, of which a multiLock has some, and more than the time between two signs of life. */
const REFUSED_MS = 13_000;
const STEP_MS = 1_000;

test.each(REFUSALS)(
  "$code: every wait goes on, and gets what it waits for [H50]",
  async ({ cause, mend }) => {
    const server = await ServerProcess.start({ program: anyProgram("valkey-server", "redis-server") });
    const clock = new ManualClock();
    const open = (): Redis => new Redis({ port: server.port, host: server.host });
    const [admin, client, otherClient] = [open(), open(), open()];
    const hf = new Holdfast(client, { clock, callTimeout: "10m" });
    const other = new Holdfast(otherClient, { callTimeout: "1m" });
    onTestFinished(async () => {
      await outcome(hf.close(), clock, STEP_MS);
      await other.close();
      for (const each of [admin, client, otherClient]) each.disconnect();
      await server.stop();
    });
    const ended: string[] = [];
    const waits = await Promise.all(
      WAITS.map(async (one, place) => {
        const waiting = await one.begin(hf, other, `w${place}`, HOUR_MS);
        const note = (how: unknown): void => void ended.push(`${one.title}: ${how}`);
        waiting.promise.then(() => note("served"), note);
        return { ...one, ...waiting };
      }),
    );
    for (let trip = 0; trip < 20; trip++) await hf.record("r").get();
    await cause(admin, server);
    await expect(hf.mutex("refused").tryAcquire()).rejects.toBeInstanceOf(ServerError);
    const impatient = new Holdfast(otherClient, { callTimeout: 1_000 });
    await expect(impatient.signal("listened to").listen()).rejects.toBeInstanceOf(ServerError);
    await impatient.close();
    const pass = async (): Promise<void> => {
      for (let passedMs = 0; passedMs < REFUSED_MS; passedMs += STEP_MS) {
        clock.advance(STEP_MS);
        await hf.record("r").get();
      }
    };
    await pass();
    // Those that begin now, for what is free.
    const late = [
      hf.mutex("late").acquire({ wait: HOUR_MS }),
      hf.semaphore("late", { permits: 1 }).acquire({ wait: HOUR_MS }),
      hf.rwLock("late").write().acquire({ wait: HOUR_MS }),
      hf.multiLock([hf.mutex("late a"), hf.mutex("late b")]).acquire({ wait: HOUR_MS }),
      hf.election("late").campaign({ wait: HOUR_MS }),
      hf.once("late", () => 1, { keep: "1h", wait: HOUR_MS }),
      hf.queue("late").receive({ wait: HOUR_MS }),
      hf.lanes("late").receive({ wait: HOUR_MS }),
      hf.signal("late").wait({ wait: HOUR_MS }),
      hf.barrier("late", 2).wait({ wait: HOUR_MS }),
    ];
    for (const promise of late) promise.catch((error: unknown) => ended.push(`late: ${error}`));
    await pass();
    expect(ended).toEqual([]);
    await mend(admin);
    const served = outcome(Promise.all(late), clock, 100);
    await other.queue("late").push(1);
    await other.lanes("late").push("lane", 1);
    await until("the signal is heard", () => other.signal("late").emit());
    await other.barrier("late", 2).wait();
    expect(await served).not.toHaveProperty("error");
    for (const { title, promise, serve } of waits) {
      await serve();
      expect(await outcome(promise, clock, 100), title).not.toHaveProperty("error");
    }
  },
);
