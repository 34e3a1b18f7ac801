/** A core in virtual time: a clock that moves when told, and bytes from a seed. */
import { compileValkey, MemoryFiles, ValkeyCore, type ValkeyCoreOptions } from "@holdfast/embedded";

const tickMs = 100;

export class VirtualClock {
  nowUs = 1_700_000_000_000_000;
  skewUs = 0;
  sleptUs: number[] = [];

  realUs = (): number => this.nowUs + this.skewUs;
  monoUs = (): number => this.nowUs;
  sleepUs = (durationUs: number): void => {
    this.sleptUs.push(durationUs);
    this.nowUs += durationUs;
  };
}

/** xorshift32: any repeatable source does. */
function seeded(seed: number): (target: Uint8Array) => void {
  let state = seed;
  return (target) => {
    for (let i = 0; i < target.length; i++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      target[i] = state;
    }
  };
}

export interface VirtualWorld {
  readonly clock: VirtualClock;
  readonly core: ValkeyCore;
  readonly files: MemoryFiles;
  readonly log: string[];
  /** Lets time pass in ticks, with a pump at each, as any owner of a core does. */
  advance(durationMs: number): void;
}

export async function virtualCore(
  options: Partial<ValkeyCoreOptions> & { seed?: number } = {},
): Promise<VirtualWorld> {
  const clock = new VirtualClock();
  const files = options.files ?? new MemoryFiles();
  const log: string[] = [];
  const { seed = 1, ...rest } = options;
  const core = new ValkeyCore({
    module: await compileValkey(),
    clock,
    random: seeded(seed),
    files,
    log: (line) => log.push(line),
    ...rest,
  });
  return {
    clock,
    core,
    files,
    log,
    advance(durationMs) {
      const end = clock.nowUs + durationMs * 1000;
      while (clock.nowUs < end) {
        clock.nowUs = Math.min(end, clock.nowUs + tickMs * 1000);
        core.pump();
      }
    },
  };
}
