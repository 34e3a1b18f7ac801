/** The time, as the pages see it. */
export interface Clock {
  /** Milliseconds since 1970. */
  nowMs(): number;
}
