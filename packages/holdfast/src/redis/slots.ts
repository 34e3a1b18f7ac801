/**
 * Slots: how Redis Cluster spreads keys over its servers. A key's slot is the CRC16 of its hash tag, the first
 * non-empty text in braces, or of the whole key where it has none.
 */

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
