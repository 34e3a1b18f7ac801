/** Wishes: a record for each team. Its version is by the clock of the Redis server, and a stale write is refused. */
import { ConflictError, type Holdfast, type RecordState } from "holdfast";
import type { Person, Wishes } from "../domain/team.js";
import { wishesRecord } from "./names.js";
import { answered } from "./store.js";

export interface StoredWishes {
  readonly roomIds: readonly string[];
  readonly by: Person | null;
  readonly atMs: number | null;
}

function toWishes(state: RecordState<StoredWishes> | null): Wishes {
  if (state === null) return { roomIds: [], version: "0", by: null, atMs: null };
  return { ...state.value, version: state.version.toString() };
}

export async function readWishes(hf: Holdfast, batchId: string, teamId: string): Promise<Wishes> {
  const { name, tag } = wishesRecord(batchId, teamId);
  return toWishes(await answered("nothing", hf.record<StoredWishes>(name, { tag }).get()));
}

/** Writes only on the version that was last seen. Returns the new version, or what is there instead. */
export async function writeWishes(
  hf: Holdfast,
  place: { readonly batchId: string; readonly teamId: string },
  value: StoredWishes,
  version: string,
): Promise<
  { readonly ok: true; readonly version: string } | { readonly ok: false; readonly current: Wishes }
> {
  const { name, tag } = wishesRecord(place.batchId, place.teamId);
  try {
    const put = hf.record<StoredWishes>(name, { tag }).put(value, { version: BigInt(version) });
    return { ok: true, version: (await put).version.toString() };
  } catch (error) {
    if (!(error instanceof ConflictError)) return answered("unknown", Promise.reject(error));
    const current =
      error.version === 0n ? null : { value: error.value as StoredWishes, version: error.version, fence: 0n };
    return { ok: false, current: toWishes(current) };
  }
}
