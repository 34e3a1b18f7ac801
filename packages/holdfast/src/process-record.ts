/** ProcessRecord: how a process describes itself to all others. */

/** A process that holds or waits, as it described itself in Redis or at another store. */
export interface ProcessRecord {
  readonly host: string;
  readonly pid: number;
  /** The `label` option of the process; empty by default. */
  readonly label: string;
}

/** Null: another program wrote this. */
export function parseProcess(json: string): ProcessRecord | null {
  try {
    const { host, pid, label } = JSON.parse(json) as ProcessRecord;
    return { host: String(host), pid: Number(pid), label: String(label) };
  } catch {
    return null;
  }
}
