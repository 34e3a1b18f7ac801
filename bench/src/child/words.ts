/** Words between processes: each side says when, by the clock that all processes share. */
import { Missed, type Teller } from "../tellers/teller.js";
import type { HearReport, HearTask, TellReport, TellTask } from "./messages.js";

export async function hear(teller: Teller, { name }: HearTask): Promise<HearReport> {
  try {
    await teller.hear(name);
    return { heardAtNs: String(process.hrtime.bigint()) };
  } catch (error) {
    if (error instanceof Missed) return { heardAtNs: null };
    throw error;
  }
}

export async function tell(teller: Teller, { name }: TellTask): Promise<TellReport> {
  const toldAtNs = String(process.hrtime.bigint());
  return { toldAtNs, isHeard: await teller.tell(name) };
}
