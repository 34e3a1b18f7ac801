/** How the sale uses npm redlock, for its store and for the note below the table. */
import { WAIT_MS } from "./store.js";

/** The pause between two attempts, in ms: the default of npm redlock, 200 ms with a jitter of 100 ms. */
export const LEAST_PAUSE_MS = 100;
export const MOST_PAUSE_MS = 300;

export const NPM_REDLOCK_REMARK =
  `5.0.0-beta.2 with retryCount 0; the store repeats a failed attempt after ${LEAST_PAUSE_MS} to ` +
  `${MOST_PAUSE_MS} ms, for up to ${WAIT_MS / 1_000} s, because the retries of npm redlock itself keep ` +
  "the votes of a failed attempt";
