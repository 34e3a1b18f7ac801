export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** @param share 0 to 1; interpolated between the neighbours. NaN of nothing. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (low === undefined || high === undefined) return Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Jain's index: 1 when all have the same, 1/n when one has everything. */
export function jain(shares: readonly number[]): number {
  const squares = sum(shares.map((share) => share * share));
  return squares === 0 ? 0 : sum(shares) ** 2 / (shares.length * squares);
}

/** One by the other of the same round: what slowed one of them down slowed the other as well. */
export function pairedRatios(
  own: readonly (number | undefined)[],
  other: readonly (number | undefined)[],
): number[] {
  return own.flatMap((value, round) => {
    const by = other[round];
    return value === undefined || !by ? [] : [value / by];
  });
}
