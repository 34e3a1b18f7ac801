/** The archive job. Every worker runs it; the elected one works, under its term. */
import { setTimeout as sleep } from "node:timers/promises";
import { StaleTokenError } from "holdfast";
import type { Student } from "../domain/student.js";
import type { ArchiveReport } from "../domain/upkeep.js";
import type { OpenDormitory } from "../state/dormitory.js";
import { type ArchiveTask, archiveBatch, verifyBatch } from "./archive-batch.js";
import { isCopied, type Term } from "./copy.js";
import { writeLog } from "./log.js";
import { type Order, Orders } from "./orders.js";

const TERM = "6s";
const ROUND_MS = 500;
/** Archived batches are compared again this often. */
const VERIFY_MS = 30_000;
/** After an outage. */
const REST_MS = 1_000;

/** Ends batches in the name of the archive. */
const ARCHIVIST: Student = { id: "archive", name: "archive", role: "admin", batchId: null };

/**
 * Ends with the signal. An outage of Redis or PostgreSQL only delays it.
 * @param tell told why the work stopped, once for each reason
 */
export async function runArchive(
  dormitory: OpenDormitory,
  signal: AbortSignal,
  tell: (reason: string) => void = tellOperator,
): Promise<void> {
  const election = dormitory.hf.election("archive", { term: TERM });
  let told = "";
  while (!signal.aborted) {
    try {
      const leadership = await election.campaign({ signal });
      try {
        await lead(dormitory, leadership, AbortSignal.any([leadership.signal, signal]));
      } finally {
        await leadership.resign();
      }
    } catch (error) {
      if (signal.aborted) return;
      // Deposed, or an outage: the next leader begins with what Redis and PostgreSQL say then.
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== told) tell(reason);
      told = reason;
      await sleep(REST_MS, undefined, { signal }).catch(() => {});
    }
  }
}

function tellOperator(reason: string): void {
  process.stderr.write(`dormitory: the archive job begins again: ${reason}\n`);
}

async function lead(dormitory: OpenDormitory, term: Term, ending: AbortSignal): Promise<void> {
  const round = new ArchiveRound(dormitory, term);
  while (!ending.aborted) {
    await round.run();
    await sleep(ROUND_MS, undefined, { signal: ending });
  }
}

/** A batch that is over: its first copy, if an administrator has ended it, else a comparison. */
async function settle(task: ArchiveTask): Promise<ArchiveReport> {
  return (await isCopied(task.db, task.batchId)) ? verifyBatch(task) : archiveBatch(task);
}

/** One leader's work, round after round. */
class ArchiveRound {
  readonly #dormitory: OpenDormitory;
  readonly #orders: Orders;
  readonly #term: Term;
  readonly #verifiedAtMs = new Map<string, number>();
  /** The last complaint for each batch: one that stays the same is logged once. */
  readonly #complaints = new Map<string, string>();

  constructor(dormitory: OpenDormitory, term: Term) {
    this.#dormitory = dormitory;
    this.#orders = new Orders(dormitory);
    this.#term = term;
  }

  /** Orders first, then batches that are over, then those whose comparison is due. */
  async run(): Promise<void> {
    for (const order of await this.#orders.open())
      await this.#guarded(order.batchId, () => this.#obey(order));
    for (const { id, state } of await this.#dormitory.batches.list()) {
      if (state === "closed") await this.#guarded(id, () => this.#finish(id));
      if (state === "archived") await this.#guarded(id, () => this.#verify(id));
    }
  }

  async #obey(order: Order): Promise<void> {
    const batch = await this.#dormitory.batches.get(order.batchId);
    const task = this.#task(order.batchId, order.by);
    await this.#orders.close(order, await (batch?.state === "archived" ? settle(task) : archiveBatch(task)));
  }

  /** A batch that cannot be archived keeps no other one from it. A deposed leader stops. */
  async #guarded(batchId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof StaleTokenError) throw error;
      await this.#complain(batchId, error instanceof Error ? error.message : String(error));
    }
  }

  async #finish(batchId: string): Promise<void> {
    const { differences, repaired } = await archiveBatch(this.#task(batchId));
    if (differences === repaired)
      await this.#dormitory.batches.archive(batchId, ARCHIVIST, { onlyIfOver: true });
    else await this.#complain(batchId, `${differences - repaired} differences remain: not archived yet`);
  }

  async #verify(batchId: string): Promise<void> {
    const dueMs = (this.#verifiedAtMs.get(batchId) ?? 0) + VERIFY_MS;
    if (performance.now() < dueMs && this.#verifiedAtMs.has(batchId)) return;
    this.#verifiedAtMs.set(batchId, performance.now());
    await settle(this.#task(batchId));
  }

  async #complain(batchId: string, text: string): Promise<void> {
    if (this.#complaints.get(batchId) === text) return;
    this.#complaints.set(batchId, text);
    await writeLog(this.#dormitory.db, [{ by: this.#name, batchId, kind: "error", text }]);
  }

  #task(batchId: string, by = this.#name): ArchiveTask {
    const { db } = this.#dormitory;
    return { store: this.#dormitory, db, batchId, by, term: this.#term };
  }

  get #name(): string {
    return `archive, term ${this.#term.fence}`;
  }
}
