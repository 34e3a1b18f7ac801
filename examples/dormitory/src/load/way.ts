/** One way of deciding under load: sign in, all click at the same second, wait for every result, then look at the data. */
import { setTimeout as sleep } from "node:timers/promises";
import { readLog } from "../archive/log.js";
import { lostAnswers } from "../check/answers.js";
import { checkAll } from "../check/check.js";
import { batchIdsIn, readBatch } from "../check/read.js";
import { differencesIn } from "../check/rules.js";
import type { Way } from "../domain/batch.js";
import type { Student } from "../domain/student.js";
import type { Difference } from "../domain/upkeep.js";
import type { OpenDormitory } from "../state/dormitory.js";
import type { LoadContext, RunningApplication } from "./context.js";
import { CrowdProcess } from "./crowd-process.js";
import { Kills } from "./kills.js";
import type { Progress } from "./output/progress.js";
import { outcomeOf, type WayOutcome } from "./result.js";
import type { Heard } from "./student.js";

/** Connections of all students together: a browser each would be more than a laptop lets one process have. */
const CONNECTIONS = 512;
const HOUR_MS = 3_600_000;
/** Between the order to open the batches and their start. */
const AHEAD_MS = 4_000;
/** Without a further batch: a worker that was killed as leader of the archive is replaced within its term. */
const ARCHIVE_MS = 60_000;

export interface WayRun {
  readonly outcome: WayOutcome;
  readonly batches: number;
  readonly server: string;
  readonly archiveDifferences: number;
}

export async function runWay(context: LoadContext, way: Way, progress: Progress): Promise<WayRun> {
  const application = await context.start();
  try {
    const { dormitory } = application;
    const admin = await administratorOf(dormitory);
    await setTerms(dormitory, admin, {
      way,
      startsAtMs: Date.now() + HOUR_MS,
      endsAtMs: Date.now() + 2 * HOUR_MS,
    });
    const rush = await rushOf(context, application, admin, progress, way);
    const differences = await differencesAfter(dormitory, rush.heard);
    const archiveDifferences = await archiveAll(dormitory, admin, { signal: context.signal, progress, way });
    const batches = (await dormitory.batches.list()).length;
    return {
      outcome: outcomeOf({ way, ...rush, differences }),
      batches,
      server: application.server,
      archiveDifferences,
    };
  } finally {
    await application.stop();
  }
}

type Rush = Omit<Parameters<typeof outcomeOf>[0], "way" | "differences">;

async function rushOf(
  { signal }: LoadContext,
  application: RunningApplication,
  admin: Student,
  progress: Progress,
  way: Way,
): Promise<Rush> {
  const { accounts, dormitory } = application;
  const kills = new Kills(application, accounts.length);
  const setup = { origin: application.url, connections: CONNECTIONS, accounts };
  const watcher = {
    onSignedIn: (students: number) => progress.reached(students),
    onDecided: (students: number, sinceStartMs: number) => {
      progress.reached(students);
      kills.decided(students, sinceStartMs);
    },
  };
  const crowd = new CrowdProcess(setup, watcher, signal);
  try {
    progress.began(`${way}: signed in`, accounts.length);
    await crowd.signIn();
    const startsAtMs = Date.now() + AHEAD_MS;
    await setTerms(dormitory, admin, { startsAtMs });
    progress.began(`${way}: results`, accounts.length);
    const { heard, requests, retries } = await crowd.choose(startsAtMs);
    const durationMs = Math.max(...heard.map(({ decidedAtMs }) => decidedAtMs));
    return { heard, durationMs, requests, retries, killed: kills.done };
  } finally {
    crowd.stop();
  }
}

async function administratorOf(dormitory: OpenDormitory): Promise<Student> {
  const admin = await dormitory.students.find("admin");
  if (!admin) throw new Error("the data of the seed have no administrator");
  return admin;
}

type Terms = Parameters<OpenDormitory["batches"]["edit"]>[1];

async function setTerms(dormitory: OpenDormitory, admin: Student, terms: Terms): Promise<void> {
  const batches = await dormitory.batches.list();
  await Promise.all(
    batches.map(async ({ id }) => {
      const result = await dormitory.batches.edit(id, terms, admin);
      if (!result.ok) throw new Error(`batch ${id} cannot be changed: ${result.reason}`);
    }),
  );
}

/** By the data alone, and by the list of answers that the students keep. */
async function differencesAfter(dormitory: OpenDormitory, heard: readonly Heard[]): Promise<Difference[]> {
  const answers = heard.flatMap((student) => student.answers);
  const differences: Difference[] = [];
  for (const id of await batchIdsIn(dormitory)) {
    const batch = await readBatch(dormitory, id);
    differences.push(...differencesIn(batch), ...lostAnswers(batch, answers));
  }
  return differences;
}

/** Ends all batches, and waits until the leader among the workers has archived them. */
async function archiveAll(
  dormitory: OpenDormitory,
  admin: Student,
  { signal, progress, way }: Pick<LoadContext, "signal"> & { readonly progress: Progress; readonly way: Way },
): Promise<number> {
  await setTerms(dormitory, admin, { endsAtMs: Date.now() });
  progress.began(`${way}: archived`, (await dormitory.batches.list()).length);
  let deadline = performance.now() + ARCHIVE_MS;
  for (let before = 0; ; ) {
    const batches = await dormitory.batches.list();
    const archived = batches.filter(({ state }) => state === "archived").length;
    progress.reached(archived);
    if (archived === batches.length) break;
    if (archived > before) deadline = performance.now() + ARCHIVE_MS;
    before = archived;
    if (performance.now() > deadline) throw new Error(await complaintOf(dormitory, archived, batches.length));
    await sleep(250, undefined, { signal });
  }
  const { counts } = await checkAll(dormitory, dormitory.db);
  return counts["archive-missing"] + counts["archive-extra"] + counts["archive-differs"];
}

async function complaintOf({ db }: OpenDormitory, archived: number, batches: number): Promise<string> {
  const [entry] = await readLog(db, 1);
  const last = entry ? `; the last line of its log: ${entry.by}: batch ${entry.batchId}: ${entry.text}` : "";
  return `the archive job stands still: ${archived} of ${batches} batches archived${last}`;
}
