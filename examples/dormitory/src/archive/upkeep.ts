/** The administrator's view of check, repair and archive: what the pages call. */
import { checkAll } from "../check/check.js";
import { batchIdsIn } from "../check/read.js";
import { repairBatch } from "../check/repair.js";
import {
  type ArchiveReport,
  type CheckReport,
  countsOf,
  type Difference,
  type Upkeep,
} from "../domain/upkeep.js";
import type { OpenDormitory } from "../state/dormitory.js";
import { readLog, writeLog } from "./log.js";
import { Orders } from "./orders.js";

/** A leader that died is replaced within its term. */
const LEADER_MS = 20_000;

export function upkeepOf(dormitory: OpenDormitory): Upkeep {
  const { db } = dormitory;
  const orders = new Orders(dormitory);
  const archive = (batchId: string, by: string): Promise<ArchiveReport> =>
    orders.place(batchId, by, AbortSignal.timeout(LEADER_MS));
  return {
    check: () => checkAll(dormitory, db),
    repair: async (by) => {
      const before = await checkAll(dormitory, db);
      for (const batchId of await batchIdsIn(dormitory)) {
        const fields = await repairBatch(dormitory, batchId);
        if (fields > 0)
          await writeLog(db, [{ by, batchId, kind: "repair", text: `${fields} fields in Redis repaired` }]);
      }
      for (const batchId of archivesToRepair(before.differences)) await archive(batchId, by);
      return compared(before, await checkAll(dormitory, db));
    },
    archive,
    log: (limit) => readLog(db, limit),
  };
}

function archivesToRepair(differences: readonly Difference[]): Set<string> {
  return new Set(differences.filter(({ kind }) => kind.startsWith("archive-")).map(({ batchId }) => batchId));
}

/** The differences of before, and which of them are gone. */
function compared(before: CheckReport, after: CheckReport): CheckReport {
  const left = new Set(after.differences.map(({ kind, text }) => `${kind} ${text}`));
  const repaired = before.differences
    .filter(({ kind, text }) => !left.has(`${kind} ${text}`))
    .map((difference) => ({ ...difference, repaired: true }));
  return { ...after, differences: [...repaired, ...after.differences], counts: countsOf(after.differences) };
}
