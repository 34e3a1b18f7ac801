/** One of each kind, and of each layer: a renewal, the keeper's end, a wait, a token, the drift of clocks. */
export const sample = [
  "sentAt.monoMs > this.#sentAt.monoMs → false",
  "this.#holds.size === 0 → false",
  "since.monoMs + waitMs → since.monoMs - waitMs",
  "tonumber(string.sub(token, 9)) + count → tonumber(string.sub(token, 9)) - count",
  "ttlMs * (1 - DRIFT_SHARE) - DRIFT_MS → ttlMs * (1 - DRIFT_SHARE) + DRIFT_MS",
];
