/** Tokens by their order alone: the values in a state become 1, 2, 3, … so that runs of any length are finite. */
import type { State } from "../model.js";

/** @param places the fields that are tokens, of 5 bits each; 0 is none */
export function numberTokens(state: State, places: Uint8Array): void {
  let present = 0;
  for (let place = 0; place < places.length; place++)
    present |= 1 << (state[places[place] as number] as number);
  present &= ~1;
  if ((present & (present + 2)) === 0) return; // they are 1, 2, 3, … already
  for (let place = 0; place < places.length; place++) {
    const token = state[places[place] as number] as number;
    if (token > 0) state[places[place] as number] = bits(present & ((2 << token) - 1));
  }
}

function bits(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
