/** Section: what a holder does with what the lock guards: reads it, and writes what follows from it. */
import { type Lease, StaleTokenError, type VersionedRecord } from "holdfast";
import type { Pending, Recorder } from "../../history/recorder.js";
import type { Written } from "../written.js";

/** What a fence said: what was read, or the token that refused; null when there was no answer. */
export type Told = { readonly read: string | null } | { readonly seen: bigint } | null;

export async function enter(
  recorder: Recorder,
  record: VersionedRecord<Written>,
  lease: Lease,
): Promise<Told> {
  const entry = recorder.begin("enter", record.name, { token: lease.fence, nonce: lease.id });
  try {
    const state = await record.get({ fence: lease });
    const read = state?.value.id ?? null;
    entry.ok({ value: read });
    return { read };
  } catch (error) {
    return refused(entry, error);
  }
}

export async function write(
  recorder: Recorder,
  record: VersionedRecord<Written>,
  lease: Lease,
  written: Written,
): Promise<Told> {
  const entry = recorder.begin("write", record.name, {
    token: lease.fence,
    nonce: lease.id,
    value: written,
  });
  try {
    await record.put(written, { fence: lease });
    entry.ok();
    return { read: written.id };
  } catch (error) {
    return refused(entry, error);
  }
}

function refused(entry: Pending, error: unknown): Told {
  if (error instanceof StaleTokenError) {
    entry.fail(`${error.code}: ${error.seen} was here`);
    return { seen: error.seen };
  }
  entry.info(String(error));
  return null;
}
