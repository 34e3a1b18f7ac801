/** How cases of locks stand in line, and see who does. */
import type { NounLab } from "./case.js";
import { until } from "./wait.js";

const LINES = { mutex: "line", semaphore: "semaphore:line", rwlock: "rwlock:line" } as const;

/** Longer than any case in real time, and moved through freely on a manual clock. */
export const LONG_TTL_MS = 30_000;
/** Renewed after a second of real time, and not lost where a busy machine stands still for another. */
export const RENEWED_SOON_MS = 3_000;
export const NEVER = { wait: Number.POSITIVE_INFINITY };

/** Resolves once as many wait in line: processes for a mutex, claims for permits. */
export async function untilInLine(
  lab: NounLab,
  noun: keyof typeof LINES,
  name: string,
  count = 1,
): Promise<void> {
  const line = `${lab.prefix}:{${name}}:${LINES[noun]}`;
  await until(`${count} in line for ${name}`, async () => Number(await lab.command("ZCARD", line)) === count);
}

/** A wait that the case looks at later. */
export function waiting<Got>(lease: Promise<Got>): { readonly lease: Promise<Got> } {
  lease.catch(() => {});
  return { lease };
}
