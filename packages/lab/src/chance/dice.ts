/** Dice: random numbers that a seed repeats. Everything random in the lab, in virtual time and with real processes, comes from them. */

export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1 (mulberry32). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.fraction() * (high - low);
  }

  /** A whole number, from `low` to `high`. */
  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  chance(share: number): boolean {
    return this.fraction() < share;
  }

  pick<Item>(items: readonly Item[]): Item {
    if (items.length === 0) throw new RangeError("nothing to pick from");
    return items[Math.floor(this.fraction() * items.length)] as Item;
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    const mixed = [...items];
    for (let place = mixed.length - 1; place > 0; place--) {
      const other = this.whole(0, place);
      [mixed[place], mixed[other]] = [mixed[other] as Item, mixed[place] as Item];
    }
    return mixed;
  }

  /** A time until the next event of a kind that comes every `meanMs` on average. */
  gapMs(meanMs: number): number {
    return -Math.log(1 - this.fraction()) * meanMs;
  }

  /** Another sequence, of its own. */
  seed(): number {
    return Math.floor(this.fraction() * 2 ** 32);
  }
}

/** The dice of one label: the same seed and label give the same sequence, so that nothing else changes when one user of dice is left out. */
export function diceFor(seed: number, label: string): Dice {
  let hash = seed ^ 0x9e3779b9;
  for (let i = 0; i < label.length; i++) hash = Math.imul(hash ^ label.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return new Dice(hash ^ (hash >>> 16));
}
