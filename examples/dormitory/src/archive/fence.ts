/** The fence of the archive: a row for each batch remembers the newest term that has written, and refuses an older one. */
import { TokenFence } from "holdfast/fencing/sql";

export const archiveFence = new TokenFence({ dialect: "postgres", table: "archive_fences" });

/** The key of the row. */
export function fenceRow(batchId: string): { resource: string } {
  return { resource: `batch ${batchId}` };
}
