/** States that differ only in which node is which, in the one form that stands for all of them. */
import type { State } from "../model.js";

/** Nodes are columns of one width, from the begin of the state on. */
export function sortNodes(state: State, nodes: number, width: number): void {
  for (let last = nodes - 1; last > 0; last--) {
    for (let node = 0; node < last; node++) {
      const at = node * width;
      let place = 0;
      while (place < width && state[at + place] === state[at + width + place]) place += 1;
      if (place === width || (state[at + place] as number) < (state[at + width + place] as number)) continue;
      for (place = 0; place < width; place++) {
        const value = state[at + place] as number;
        state[at + place] = state[at + width + place] as number;
        state[at + width + place] = value;
      }
    }
  }
}
