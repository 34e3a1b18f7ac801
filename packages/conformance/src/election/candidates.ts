/** Cases in which one process after the other stands for election. */
import type { Candidate, Holdfast, Leadership } from "holdfast";
import type { NounLab } from "../case.js";
import { until } from "../wait.js";

/** Begins a campaign of that process, and resolves when it stands in line. */
export async function stand(
  holdfast: Holdfast,
  name: string,
  options: { readonly term?: number; readonly value?: unknown; readonly signal?: AbortSignal } = {},
): Promise<{ readonly elected: Promise<Leadership>; readonly candidate: Candidate }> {
  const { term, value, signal } = options;
  const election = holdfast.election(name, { term, value });
  const before = new Set((await election.candidates()).map(({ id }) => id));
  const elected = election.campaign({ signal });
  elected.catch(() => {}); // a case that ends before it hears of it has failed for another reason
  const candidate = await until("it stands for election", async () =>
    (await election.candidates()).find(({ id }) => !before.has(id)),
  );
  return { elected, candidate };
}

/** The key of the state of the election's lock. */
export function lockOf(lab: NounLab, name: string): string {
  return `${lab.prefix}:{election:${name}}:lock`;
}
