/**
 * Slots: how Redis Cluster spreads keys over its servers. A key's slot is the CRC16 of its hash tag, the first
 * non-empty text in braces, or of the whole key where it has none.
 */
import { ServerError } from "../errors.js";
import type { RedisPort } from "./port.js";

const SLOTS = 16_384;
/** The polynomial of CRC16-CCITT (XMODEM), which the specification of Redis Cluster names. */
const POLYNOMIAL = 0x1021;
const ASK_TIMEOUT_MS = 1_000;

export function slotOfKey(key: string): number {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  return crc16(Buffer.from(close > open + 1 ? key.slice(open + 1, close) : key)) % SLOTS;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ POLYNOMIAL : crc << 1;
    crc &= 0xffff;
  }
  return crc;
}

/** Groups items whose keys are in one slot, in the order in which their slots first occur. */
export function groupBySlot<Item>(
  items: readonly Item[],
  slotOf: (item: Item) => number,
): (readonly Item[])[] {
  const first = items[0];
  if (first === undefined) return [];
  if (items.length === 1) return [items];
  const its = slotOf(first);
  // On a single server this is all.
  if (items.every((item) => slotOf(item) === its)) return [items];
  const groups = new Map<number, Item[]>();
  for (const item of items) {
    const slot = slotOf(item);
    const group = groups.get(slot);
    if (group) group.push(item);
    else groups.set(slot, [item]);
  }
  return [...groups.values()];
}

/**
 * Whether one call may have keys of several slots. A server that is part of a cluster refuses it, also the only one of a cluster. Until
 * the server has said which it is, every key counts as being in a slot of its own.
 */
export class ServerSlots {
  readonly #port: Pick<RedisPort, "command">;
  /** Null: not known yet. */
  #isCluster: boolean | null = null;
  #isAsking = false;
  #first: string | null = null;

  constructor(port: Pick<RedisPort, "command">) {
    this.#port = port;
  }

  /** Whether the server has said that it is part of a cluster. */
  get isCluster(): boolean {
    return this.#isCluster ?? false;
  }

  /** 0 of every key where one call may have them all. */
  of(key: string): number {
    if (this.#isCluster === false) return 0;
    const slot = slotOfKey(key);
    this.#first ??= key;
    if (this.#isCluster === null && slot !== slotOfKey(this.#first)) void this.#ask([this.#first, key]);
    return slot;
  }

  /** To be called with each refusal of the server. */
  refused(error: unknown): void {
    if (error instanceof ServerError && error.serverCode === "CROSSSLOT") this.#isCluster = true;
  }

  /** The connection broke, and the next may lead to another server. */
  forget(): void {
    this.#isCluster = null;
  }

  async #ask(keys: readonly string[]): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      // A script that changes nothing.
      await this.#port.command(["EVAL", "return 1", String(keys.length), ...keys], ASK_TIMEOUT_MS);
      this.#isCluster ??= false;
    } catch {
      // The refusal has been heard of. Without an answer it stays unknown.
    } finally {
      this.#isAsking = false;
    }
  }
}
