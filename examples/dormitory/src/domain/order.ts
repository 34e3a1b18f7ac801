/**
 * The one order in which locks of a batch nest: the batch, then members, then rooms, each kind by id. Two selections that want the same
 * names want them in the same order, so none of them can wait for the other in a circle.
 */

export interface Names {
  readonly members: readonly string[];
  readonly rooms: readonly string[];
}

export function inCanonicalOrder(batchId: string, { members, rooms }: Names): string[] {
  const sorted = (ids: readonly string[]): string[] => [...new Set(ids)].sort(byCode);
  return [
    ...sorted(members).map((id) => `${batchId}:member:${id}`),
    ...sorted(rooms).map((id) => `${batchId}:room:${id}`),
  ];
}

/** By code units: the same in every process, whatever its locale. */
export function byCode(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
