/**
 * MemoryFences: the fences of one process, in bounded memory.
 *
 * A resource that does not fit any more is not forgotten, but becomes less exact: one floor replaces the tokens of all
 * dropped resources. A new process knows no token, unless it gets a floor to start from.
 */
import { BoundedMap } from "../../bounded-map.js";
import { InvalidArgumentError } from "../../errors.js";
import { type Fenced, refuses } from "../fenced.js";
import type { FenceStore } from "./http-fence.js";
import { digestOf } from "./resource-digest.js";

export interface MemoryFencesOptions {
  /**
   * Number of resources with a token of their own. Beyond it, the resource that was entered longest ago is dropped, and
   * its token raises the floor. @default 100000
   */
  readonly capacity?: number | undefined;
  /**
   * All other resources refuse tokens up to this one. Tokens of locks in Redis are microseconds since
   * 1970, or more: `BigInt(Date.now()) * 1000n` refuses every holder of a lease from before this process started.
   * @default none
   */
  readonly floor?: bigint | undefined;
}

const DEFAULT_CAPACITY = 100_000;
/** Longer names are kept as digests, so that the memory is bounded whatever paths clients choose. */
const LONGEST_NAME = 512;

export class MemoryFences implements FenceStore {
  #floor: bigint;
  readonly #newest: BoundedMap<string, Fenced>;

  /** @throws {InvalidArgumentError} */
  constructor(options: MemoryFencesOptions = {}) {
    const { capacity = DEFAULT_CAPACITY, floor = -1n } = options ?? {};
    if (!Number.isInteger(capacity) || capacity < 1)
      throw new InvalidArgumentError("capacity", "must be a whole number from 1");
    if (typeof floor !== "bigint") throw new InvalidArgumentError("floor", "must be a bigint");
    this.#newest = new BoundedMap(capacity);
    this.#floor = floor;
  }

  /** Number of resources with a token of their own. */
  get size(): number {
    return this.#newest.size;
  }

  async enter(name: string, holder: Fenced): Promise<bigint | null> {
    const resource = name.length <= LONGEST_NAME ? name : digestOf(name);
    const there = this.#newest.get(resource);
    if (there ? refuses(there, holder) : holder.fence <= this.#floor) return there?.fence ?? this.#floor;
    const dropped = this.#newest.set(resource, { fence: holder.fence, id: holder.id });
    if (dropped && dropped[1].fence > this.#floor) this.#floor = dropped[1].fence;
    return null;
  }
}
