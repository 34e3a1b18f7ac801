/** No lock at all: the control that shows what the counters and the machine do by themselves. */
import type { Contestant } from "./contestant.js";

export async function open(): Promise<Contestant<null>> {
  return {
    acquire: async () => null,
    release: async () => null,
    hold: async () => ({ lost: () => 0, release: async () => {} }),
    close: async () => {},
  };
}
