/** Rooms: their descriptions change only with an edit of their batch, so each process keeps them by its version. */
import type { Room, RoomView } from "../domain/room.js";
import { piped, type Store } from "./store.js";

interface Known {
  readonly version: bigint;
  readonly rooms: ReadonlyMap<string, Room>;
}

export class Rooms {
  readonly #store: Store;
  readonly #known = new Map<string, Known>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The rooms of the batch in this version or a later one. @throws {Unreachable} */
  async known(batchId: string, version: bigint): Promise<ReadonlyMap<string, Room>> {
    const known = this.#known.get(batchId);
    if (known && known.version >= version) return known.rooms;
    const { redis, keys } = this.#store;
    // One transaction: a description without its version could be kept for too long.
    const [found, texts] = (await piped(
      redis.multi().hget(keys.of(batchId, "meta"), "version").hgetall(keys.of(batchId, "rooms")),
      "nothing",
    )) as [string | null, Record<string, string>];
    const rooms = new Map(
      Object.entries(texts).map(([id, text]) => [id, { id, batchId, ...JSON.parse(text) } as Room]),
    );
    this.#known.set(batchId, { version: BigInt(found ?? 0), rooms });
    return rooms;
  }

  async of(batchId: string): Promise<readonly RoomView[]> {
    const { redis, keys } = this.#store;
    const pipeline = redis.pipeline().hgetall(keys.of(batchId, "rooms")).hgetall(keys.of(batchId, "free"));
    const [texts, free] = (await piped(pipeline, "nothing")) as [
      Record<string, string>,
      Record<string, string>,
    ];
    return Object.entries(texts)
      .map(([id, text]): RoomView => ({ id, batchId, ...JSON.parse(text), free: Number(free[id] ?? 0) }))
      .sort((one, other) =>
        `${one.building} ${one.name}`.localeCompare(`${other.building} ${other.name}`, "en", {
          numeric: true,
        }),
      );
  }
}
