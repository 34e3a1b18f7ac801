/** Bytes that a seed repeats (xorshift32), in the place of a source of randomness. */
export function seededBytes(seed: number): (target: Uint8Array) => void {
  // Zero is the one state that xorshift never leaves.
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  return (target) => {
    for (let i = 0; i < target.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      target[i] = state;
    }
  };
}
