/** The rooms of a batch as of a moment ago, so that thousands who look at once ask the store once. */
import type { RoomView } from "../domain/room.js";
import type { Clock } from "./clock.js";

const FRESH_MS = 500;

export class RoomBoard {
  readonly #read: (batchId: string) => Promise<readonly RoomView[]>;
  readonly #clock: Clock;
  readonly #byBatch = new Map<
    string,
    { readonly atMs: number; readonly rooms: Promise<readonly RoomView[]> }
  >();

  constructor(read: (batchId: string) => Promise<readonly RoomView[]>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** At most half a second old. */
  async of(batchId: string): Promise<readonly RoomView[]> {
    const atMs = this.#clock.nowMs();
    const known = this.#byBatch.get(batchId);
    if (known && atMs - known.atMs < FRESH_MS) return known.rooms;
    const rooms = this.#read(batchId);
    this.#byBatch.set(batchId, { atMs, rooms });
    // Those who wait get the failure; nobody else does.
    rooms.catch(() => this.#byBatch.delete(batchId));
    return rooms;
  }
}

/** What people call a room. */
export function nameOf({ building, name }: Pick<RoomView, "building" | "name">): string {
  return `${building} ${name}`;
}

/** The name of a room by its id; a room that is gone keeps its id. */
export function namesOf(rooms: readonly RoomView[]): (roomId: string) => string {
  const byId = new Map(rooms.map((room) => [room.id, nameOf(room)]));
  return (roomId) => byId.get(roomId) ?? roomId;
}
