/** Many leases held for a while, and what the process goes through meanwhile. */
import { setTimeout as sleep } from "node:timers/promises";
import { requestsSent } from "../contestants/client.js";
import type { Contestant, HeldMany } from "../contestants/contestant.js";
import type { HoldTask, StandTask, WatchReport, WatchTask } from "./messages.js";
import { Stalls } from "./stalls.js";

export class Holding {
  readonly #contestant: Contestant;
  #held: HeldMany | null = null;

  constructor(contestant: Contestant) {
    this.#contestant = contestant;
  }

  async hold({ names, prefix, ttlMs }: HoldTask): Promise<{ tookMs: number }> {
    const since = performance.now();
    const all = Array.from({ length: names }, (_, index) => `${prefix}:${index}`);
    this.#held = (await this.#contestant.hold?.(all, ttlMs)) ?? null;
    const tookMs = performance.now() - since;
    // Garbage of the beginning is no stall of the holding.
    globalThis.gc?.();
    return { tookMs };
  }

  stand({ names }: StandTask): null {
    this.#contestant.stand?.(names);
    return null;
  }

  async watch({ ms, stalls: isLooking = true }: WatchTask): Promise<WatchReport> {
    const requestsBefore = requestsSent();
    const cpuBefore = process.cpuUsage();
    const stalls = isLooking ? new Stalls() : null;
    await sleep(ms);
    const worst = stalls?.end() ?? { worstStallMs: 0, worstOwnStallMs: 0 };
    const cpu = process.cpuUsage(cpuBefore);
    return {
      ...worst,
      requests: requestsSent() - requestsBefore,
      cpuMs: (cpu.user + cpu.system) / 1_000,
      lost: this.#held?.lost() ?? 0,
    };
  }

  async letGo(): Promise<{ lost: number }> {
    const lost = this.#held?.lost() ?? 0;
    await this.#held?.release();
    this.#held = null;
    return { lost };
  }
}
