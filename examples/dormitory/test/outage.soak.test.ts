/** Redis stands still for ten seconds in the middle of the rush, or is killed and comes back with its append-only file. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { program, ServerProcess } from "@holdfast/conformance";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Answer, lostAnswers } from "../src/check/answers.js";
import { readBatch } from "../src/check/read.js";
import { differencesIn } from "../src/check/rules.js";
import { loadState } from "../src/data/load-seed.js";
import { seedData } from "../src/data/seed.js";
import type { Way } from "../src/domain/batch.js";
import type { Outcome, Ticket } from "../src/domain/selection.js";
import type { Student } from "../src/domain/student.js";
import { Unreachable } from "../src/domain/unreachable.js";
import { type OpenDormitory, openDormitory } from "../src/state/dormitory.js";
import { studentsOf } from "./fixture.js";

const STUDENTS = 120;
const OUTAGE_MS = 10_000;
/** They come one after the other, so that some have an answer before the outage, and some come in it. */
const APART_MS = 40;
const STRIKE_AFTER_MS = 1_500;
const POLL_MS = 200;
const RETRY_MS = 500;

const servers = (["redis-server", "valkey-server"] as const).map(program);

interface Outage {
  readonly what: string;
  strike(server: ServerProcess): Promise<void>;
  heal(server: ServerProcess): Promise<void>;
}

const outages: readonly Outage[] = [
  {
    what: "stands still",
    strike: async (server) => server.freeze(),
    heal: async (server) => server.thaw(),
  },
  {
    what: "is killed and comes back with its append-only file",
    strike: (server) => server.kill(),
    heal: (server) => server.launch(),
  },
];

/** As a browser: the same form again while there is no answer, then the ticket until there is an outcome. */
async function choose(
  dormitory: OpenDormitory,
  student: Student,
  counts: { retries: number },
): Promise<Outcome> {
  const requestId = randomUUID();
  let answer: Ticket | Outcome | null = null;
  for (;;) {
    try {
      answer ??= await dormitory.selection.grab(student, requestId);
      if (answer.state !== "waiting") return answer;
      const view = await dormitory.selection.ticket(student);
      if (view?.state === "decided" && view.outcome) return view.outcome;
      if (view?.state === "none") answer = null; // The lane has lost it: it is asked for again.
      await sleep(POLL_MS);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      counts.retries += 1;
      await sleep(RETRY_MS);
    }
  }
}

async function open(way: Way, program: string) {
  const options = ["--appendonly", "yes", "--appendfsync", "always"];
  const server = await ServerProcess.start({ program, options });
  onTestFinished(() => server.stop());
  const setup = {
    redisUrl: `redis://127.0.0.1:${server.port}`,
    postgresUrl: "postgres://nobody@127.0.0.1:1/none",
    prefix: "outage",
  };
  const processes = Array.from({ length: 3 }, () => openDormitory(setup));
  onTestFinished(async () => void (await Promise.all(processes.map((one) => one.close()))));
  const [batch] = seedData({
    seed: "outage",
    batches: 1,
    studentsPerBatch: STUDENTS,
    startsAtMs: Date.now() - 1_000,
    apartMs: 0,
    openMs: 3_600_000,
    way,
  });
  const [first] = processes;
  if (!batch || !first) throw new Error("nothing to test");
  await loadState(first, [batch]);
  for (const one of processes.slice(1)) one.decideLanes(8);
  return { server, processes, batch, first };
}

describe.each(servers.filter((program) => program !== ""))("%s", (program) => {
  describe.each<Way>(["locks", "lanes"])("%s", (way) => {
    test.each(outages)("keeps every answer and goes on by itself when it $what", async ({ strike, heal }) => {
      const { server, processes, batch, first } = await open(way, program);
      const counts = { retries: 0 };
      const answers: Answer[] = [];
      const crowd = studentsOf(batch).map(async (student, at) => {
        await sleep(at * APART_MS);
        const outcome = await choose(processes[at % processes.length] ?? first, student, counts);
        if (outcome.state === "done")
          answers.push({ studentId: student.id, places: outcome.places, atMs: outcome.atMs });
      });
      await sleep(STRIKE_AFTER_MS);
      const before = answers.length;
      await strike(server);
      await sleep(OUTAGE_MS);
      await heal(server);
      await Promise.all(crowd);
      const facts = await readBatch(first, batch.id);
      expect(differencesIn(facts)).toEqual([]);
      expect(lostAnswers(facts, answers)).toEqual([]);
      // The outage came in the middle, and was noticed.
      expect(before).toBeGreaterThan(0);
      expect(before).toBeLessThan(answers.length);
      expect(counts.retries).toBeGreaterThan(0);
    });
  });
});
