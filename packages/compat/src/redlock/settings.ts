/** The settings of npm redlock, with its defaults. */
export interface Settings {
  /** Share of the duration by which `expiration` is early, for clocks that differ. @default 0.01 */
  readonly driftFactor: number;
  /** With retryDelay, how long to wait for a resource that is taken; -1 is for as long as it takes. @default 10 */
  readonly retryCount: number;
  /** In ms. Nothing polls here: only retryCount times retryDelay counts. @default 200 */
  readonly retryDelay: number;
  /** In ms. Has no effect: nothing polls. @default 100 */
  readonly retryJitter: number;
  /** In ms. `using` only checks it against the duration, as the original does. @default 500 */
  readonly automaticExtensionThreshold: number;
}

/** Settings of one call. Those of the Redlock replace the missing ones, and the defaults replace those. */
export type GivenSettings = { readonly [Key in keyof Settings]?: number | undefined };

const DEFAULTS: Settings = Object.freeze({
  driftFactor: 0.01,
  retryCount: 10,
  retryDelay: 200,
  retryJitter: 100,
  automaticExtensionThreshold: 500,
});

/** A setting that is no number is treated as missing, as in the original, and so are settings of null. */
export function settingsFrom(given: GivenSettings | null, fallback: Settings = DEFAULTS): Settings {
  const settings: Record<string, number> = { ...fallback };
  for (const key of Object.keys(DEFAULTS) as (keyof Settings)[]) {
    const value = given?.[key];
    if (typeof value === "number") settings[key] = value;
  }
  return settings as unknown as Settings;
}

/** The time for which the original would go on trying; 0 is one attempt. */
export function waitMsOf({ retryCount, retryDelay }: Settings): number {
  if (retryCount === -1) return Number.POSITIVE_INFINITY;
  return Math.max(Math.round(retryCount * retryDelay), 0);
}

/** Clocks may differ by a share of the duration; 2 ms are for the precision of expiry in Redis. */
export function driftMs({ driftFactor }: Settings, durationMs: number): number {
  return Math.round(driftFactor * durationMs) + 2;
}
