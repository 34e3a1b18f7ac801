/** Warnings of the process: what its operator must know although nobody listens. Node prints each to stderr. */

export type WarningCode =
  | "HOLDFAST_UNREACHABLE"
  | "HOLDFAST_FORWARDED_IGNORED"
  | "HOLDFAST_UNHEARD"
  | "HOLDFAST_STUCK"
  | "HOLDFAST_UNSTORED"
  | "HOLDFAST_ENDED";

const told = new Set<WarningCode>();

export function warn(code: WarningCode, text: string): void {
  process.emitWarning(text, { type: "HoldfastWarning", code });
}

/** The first one of its kind only. */
export function warnOnce(code: WarningCode, text: string): void {
  if (told.has(code)) return;
  told.add(code);
  warn(code, text);
}
