/**
 * Slots: how Redis Cluster spreads keys over its servers. A key's slot is the CRC16 of its hash tag, the first
 * non-empty text in braces, or of the whole key where it has none.
 */
import { ServerError } from "../errors.js";
import type { RedisPort } from "./port.js";

const SLOTS = 16_384;
/** The polynomial of CRC16-CCITT (XMODEM), which the specification of Redis Cluster names. */
const POLYNOMIAL = 0x1021;

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

/** Whether a server of a cluster has refused a call because it has keys of several slots. Nothing of it was carried out. */
export function isCrossSlot(error: unknown): boolean {
  return error instanceof ServerError && error.serverCode === "CROSSSLOT";
}

/** Whether the items of a call that failed go again, in calls of one slot each. */
export function goesApart(error: unknown, count: number): boolean {
  return count > 1 && isCrossSlot(error);
}

/** The answers for all items, in their order: of one call, or of one for each slot where the server wants it so. */
export async function bySlot<Item, Answer>(
  port: Pick<RedisPort, "slotOf">,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  send: (items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const slotted = (): (readonly Item[])[] => groupBySlot(items, (item) => port.slotOf(keyOf(item)));
  let groups = slotted();
  if (groups.length <= 1) {
    try {
      return await send(items);
    } catch (error) {
      if (!goesApart(error, items.length)) throw error;
      groups = slotted();
    }
  }
  const answers = new Map<Item, Answer>();
  const sendGroup = async (group: readonly Item[]): Promise<void> => {
    for (const [place, answer] of (await send(group)).entries()) answers.set(group[place] as Item, answer);
  };
  await Promise.all(groups.map(sendGroup));
  return items.map((item) => answers.get(item) as Answer);
}

/**
 * Whether one call may have keys of several slots. A server that is part of a cluster refuses it, also the only one of a cluster. Nobody
 * asks it before: its first refusal, of which nothing was carried out, says so.
 */
export class ServerSlots {
  #isCluster = false;

  /** 0 of every key where one call may have them all. */
  of(key: string): number {
    return this.#isCluster ? slotOfKey(key) : 0;
  }

  /** To be called with each refusal of the server. */
  refused(error: unknown): void {
    if (isCrossSlot(error)) this.#isCluster = true;
  }

  /** The connection broke, and the next may lead to another server. */
  forget(): void {
    this.#isCluster = false;
  }
}
