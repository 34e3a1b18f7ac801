/** The tables in PostgreSQL, the system of record. */
import type { ColumnType, Generated } from "kysely";

/** int8 comes as text, so that no digit is lost. */
type Int8 = ColumnType<string, string | number | bigint, string | number | bigint>;

export interface Tables {
  batches: {
    id: string;
    name: string;
    starts_at_ms: Int8;
    ends_at_ms: Int8;
    way: string;
    archived: boolean;
    /** The fence of the edit that wrote the row. */
    fence: Int8;
    fence_holder: string;
  };
  rooms: { id: string; batch_id: string | null; building: string; name: string; beds: number };
  students: {
    number: string;
    name: string;
    role: string;
    batch_id: string | null;
    /** As data/passwords.ts writes it. */
    password: string;
  };
  /** The archived choices. */
  results: {
    student: string;
    batch_id: string;
    room_id: string;
    bed: number;
    decided_at_ms: Int8;
    /** The fence of the archive job that wrote the row. */
    fence: Int8;
    fence_holder: string;
  };
  archive_log: {
    id: Generated<number>;
    at_ms: Int8;
    /** An administrator, or the archive job with its term. */
    who: string;
    batch_id: string | null;
    /** `info`, `difference`, `repair` or `error`. */
    kind: string;
    line: string;
  };
  /** One row for each batch: the newest term of the archive job that wrote results of it. */
  archive_fences: { resource: string; fence: Int8; fence_holder: string };
}
