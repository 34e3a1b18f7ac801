/** A site over the service in memory, with an embedded Valkey for its guards. */
import { freePort, ManualClock } from "@holdfast/conformance";
import { EmbeddedValkey } from "@holdfast/embedded";
import { Holdfast } from "holdfast";
import { Redis } from "ioredis";
import type { Dormitory } from "../../src/domain/service.js";
import { Unreachable } from "../../src/domain/unreachable.js";
import { type CheckReport, countsOf, type Difference } from "../../src/domain/upkeep.js";
import type { proxyOf } from "../../src/setup.js";
import { makeApp } from "../../src/web/app.js";
import { siteOf } from "../../src/web/listen.js";
import { MemoryDormitory } from "./memory-dormitory.js";
import { Visitor } from "./visitor.js";

export const START_MS = 1_795_420_800_000;

export interface World {
  readonly memory: MemoryDormitory;
  readonly logged: string[];
  nowMs: number;
  visitor(headers?: Readonly<Record<string, string>>): Visitor;
  /** Reads the batches anew, as the site does every second. */
  refresh(): Promise<void>;
  /** The service does not answer from now on. */
  cut(happened: "nothing" | "unknown"): void;
}

export interface Engine {
  readonly hf: Holdfast;
  /** That of the guards. */
  readonly clock: ManualClock;
  /** Ends the engine under the program, as an outage of Redis. */
  cut(): Promise<void>;
  stop(): Promise<void>;
}

export async function startEngine(): Promise<Engine> {
  const valkey = await EmbeddedValkey.start({ port: await freePort() });
  const redis = new Redis(valkey.url);
  redis.on("error", () => undefined); // The engine was cut off by its test.
  // Its guards give Redis half a second: on a clock that stands still nothing is too late.
  const clock = new ManualClock();
  const hf = new Holdfast(redis, { clock });
  return {
    hf,
    clock,
    cut: () => valkey.stop(),
    stop: async () => {
      await hf.close();
      redis.disconnect();
      await valkey.stop();
    },
  };
}

/** Two buildings, four rooms of two beds, two batches: `now` is open or about to be, `other` is another one. */
export async function openWorld(
  { hf }: Engine,
  prefix: string,
  proxy: ReturnType<typeof proxyOf> = {},
): Promise<World> {
  let happened: "nothing" | "unknown" | null = null;
  const world = { nowMs: START_MS - 60_000, logged: [] as string[] };
  const memory = new MemoryDormitory(() => world.nowMs);
  for (const id of [`${prefix}now`, `${prefix}other`])
    memory.batches.set(id, {
      ...{ id, name: `Batch ${id}`, way: "locks", state: "planned", version: 1n },
      ...{ startsAtMs: START_MS, endsAtMs: START_MS + 3_600_000 },
    });
  for (const name of ["101", "102", "201", "202"]) {
    const building = name.startsWith("1") ? "East" : "West";
    memory.rooms.set(`r${name}`, { id: `r${name}`, batchId: `${prefix}now`, building, name, beds: 2 });
  }
  memory.addStudent("s1", "Li Wei", `${prefix}now`);
  memory.addStudent("s2", "Wang <script>alert(1)</script>", `${prefix}now`);
  memory.addStudent("s3", "Robert'); DROP TABLE students;--", `${prefix}now`);
  memory.addStudent("s9", "Chen Ou", `${prefix}other`);
  memory.addStudent("admin", "Administrator", null, "admin");
  const report = (differences: readonly Difference[]): CheckReport => ({
    atMs: world.nowMs,
    batches: 1,
    differences,
    counts: countsOf(differences),
  });
  const site = siteOf({
    dormitory: cuttable(memory.service(), () => happened),
    upkeep: {
      check: async () => report([]),
      repair: async () => report([{ kind: "one-sided", batchId: "1", text: "s1 <b>", repaired: true }]),
      archive: (id) =>
        id.endsWith("now") ? archived() : Promise.reject(new DOMException("late", "TimeoutError")),
      log: async () => [
        { atMs: world.nowMs, by: "admin", batchId: null, kind: "info", text: "copied <i>2</i> results" },
      ],
    },
    hf,
    ...proxy,
    secret: "a secret of at least thirty-two characters",
    clock: { nowMs: () => world.nowMs },
    log: (line) => world.logged.push(line),
  });
  await site.schedule.refresh();
  const app = makeApp(site);
  return Object.assign(world, {
    memory,
    visitor: (headers?: Readonly<Record<string, string>>) => new Visitor(app, headers),
    refresh: () => site.schedule.refresh(),
    cut: (how: "nothing" | "unknown") => {
      happened = how;
    },
  });
}

async function archived() {
  return { copied: 2, differences: 1, repaired: 1 };
}

/** The service, until it is cut: then every call says so, as it does without Redis. */
function cuttable(service: Dormitory, happened: () => "nothing" | "unknown" | null): Dormitory {
  const guarded = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member === "object" && member !== null) return guarded(member);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          const how = happened();
          if (how !== null) throw new Unreachable(how, new Error("cut"));
          return Reflect.apply(member, target, given) as unknown;
        };
      },
    });
  return guarded(service);
}
