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

/**
 * How the items of a call go again of which the server has carried out nothing: those of each slot together, or each by itself where the
 * user may not use the keys of all. Null: they do not.
 */
export function partsOf<Item>(
  error: unknown,
  items: readonly Item[],
  slotted: (items: readonly Item[]) => readonly (readonly Item[])[],
): readonly (readonly Item[])[] | null {
  if (items.length < 2) return null;
  if (isCrossSlot(error)) return slotted(items);
  const isForbidden = error instanceof ServerError && error.serverCode === "NOPERM";
  return isForbidden ? items.map((item) => [item]) : null;
}

/**
 * The answers for the items, in their order, as far as they have one: of one call, or of one for each part where the server wants it so.
 * @param failed the answer of those whose call failed; without it the first error is that of all
 */
export async function bySlot<Item, Answer>(
  port: Pick<RedisPort, "slotOf">,
  items: readonly Item[],
  keyOf: (item: Item) => string,
  send: (items: readonly Item[]) => Promise<readonly Answer[]>,
  failed?: (error: unknown) => Answer,
): Promise<readonly Answer[]> {
  const slotted = (some: readonly Item[]): (readonly Item[])[] =>
    groupBySlot(some, (item) => port.slotOf(keyOf(item)));
  const answers = new Map<Item, Answer>();
  const sendPart = async (part: readonly Item[]): Promise<void> => {
    try {
      for (const [place, answer] of (await send(part)).entries()) answers.set(part[place] as Item, answer);
    } catch (error) {
      const parts = partsOf(error, part, slotted);
      if (parts) await Promise.all(parts.map(sendPart));
      else if (!failed) throw error;
      else for (const item of part) answers.set(item, failed(error));
    }
  };
  await Promise.all(slotted(items).map(sendPart));
  return items.filter((item) => answers.has(item)).map((item) => answers.get(item) as Answer);
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
