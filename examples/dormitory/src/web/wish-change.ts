/** Changes of a list of wishes: one step of a form, or a whole list. */

export type WishChange =
  | { readonly kind: "up" | "down" | "remove" | "add"; readonly roomId: string }
  | { readonly kind: "set"; readonly roomIds: readonly string[] };

/** The list after the change. A change that has become pointless, such as removing a room that is gone, leaves it as it is. */
export function changed(list: readonly string[], change: WishChange): readonly string[] {
  if (change.kind === "set") return change.roomIds;
  const at = list.indexOf(change.roomId);
  if (change.kind === "add") return at === -1 ? [...list, change.roomId] : list;
  if (at === -1) return list;
  const rest = list.filter((id) => id !== change.roomId);
  if (change.kind === "remove") return rest;
  return rest.toSpliced(Math.max(0, change.kind === "up" ? at - 1 : at + 1), 0, change.roomId);
}

/** `up:ID`, as the name of a button; `add`, and `set` have their rooms in other fields. */
export function changeOf(word: string, room: string, rooms: readonly string[]): WishChange | null {
  if (word === "set") return { kind: "set", roomIds: rooms };
  if (word === "add") return room === "" ? null : { kind: "add", roomId: room };
  const [kind, ...rest] = word.split(":");
  const roomId = rest.join(":");
  if (roomId === "") return null;
  return kind === "up" || kind === "down" || kind === "remove" || kind === "add" ? { kind, roomId } : null;
}

export interface Difference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Whether rooms that are in both lists have another order. */
  readonly moved: boolean;
}

export function differenceOf(before: readonly string[], after: readonly string[]): Difference {
  const kept = before.filter((id) => after.includes(id));
  const keptAfter = after.filter((id) => before.includes(id));
  return {
    added: after.filter((id) => !before.includes(id)),
    removed: before.filter((id) => !after.includes(id)),
    moved: kept.some((id, at) => keptAfter[at] !== id),
  };
}
