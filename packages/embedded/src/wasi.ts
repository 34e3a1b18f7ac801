/**
 * The system imports other than files: clock, sleep, exit. Files and the log have files of their own.
 *
 * Errors are WASI's numbers. 64-bit parameters arrive as bigint.
 */
import type { EngineMemory } from "./memory.js";
import { errno } from "./wasi-errno.js";
import type { ImportTable } from "./wasm.js";

/** The engine's time. Microseconds may have a fraction; `monoUs` never goes back. */
export interface ValkeyClock {
  /** Microseconds since 1970. */
  realUs(): number;
  /** Microseconds from any fixed start. */
  monoUs(): number;
  /** Lets this much time pass before it returns (DEBUG SLEEP). @default returns at once */
  sleepUs?(durationUs: number): void;
}

export interface WasiPorts {
  readonly memory: () => EngineMemory;
  readonly clock: ValkeyClock;
  /** Notes the exit and throws: the engine's code must not go on. */
  readonly exit: (code: number) => never;
}

const realtimeClock = 0;
const subscriptionBytes = 48;
const eventBytes = 32;
const clockTag = 0;
const absoluteTime = 1;
const microsPerHighWord = 4294967.296;

export function systemImports({ memory, clock, exit }: WasiPorts): ImportTable {
  return {
    clock_time_get: (id: number, _precision: bigint, out: number) => {
      memory().writeNanoseconds(out, id === realtimeClock ? clock.realUs() : clock.monoUs());
      return errno.success;
    },
    environ_sizes_get: (countOut: number, sizeOut: number) => {
      const words = memory().words;
      words[countOut >>> 2] = 0;
      words[sizeOut >>> 2] = 0;
      return errno.success;
    },
    environ_get: () => errno.success,
    proc_exit: (code: number) => exit(code),
    sched_yield: () => errno.success,
    sock_shutdown: () => errno.success,
    poll_oneoff: (input: number, output: number, count: number, countOut: number) => {
      sleep(memory(), clock, input, count);
      const view = memory();
      for (let i = 0; i < count; i++) {
        const event = (output >>> 0) + i * eventBytes;
        const subscription = (input >>> 0) + i * subscriptionBytes;
        view.bytes.fill(0, event, event + eventBytes);
        view.bytes.copyWithin(event, subscription, subscription + 8);
        view.bytes[event + 10] = view.bytes[subscription + 8] ?? clockTag;
      }
      view.words[countOut >>> 2] = count;
      return errno.success;
    },
  };
}

/** The engine asks for nothing but sleep here: readiness of sockets goes through the host imports. */
function sleep(memory: EngineMemory, clock: ValkeyClock, input: number, count: number): void {
  for (let i = 0; i < count; i++) {
    const at = (input >>> 0) + i * subscriptionBytes;
    if (memory.bytes[at + 8] !== clockTag) continue;
    const words = memory.words;
    const low = (words[(at + 24) >>> 2] as number) >>> 0;
    const high = (words[(at + 28) >>> 2] as number) >>> 0;
    const timeUs = low / 1000 + high * microsPerHighWord;
    const isAbsolute = ((memory.bytes[at + 40] as number) & absoluteTime) !== 0;
    const nowUs = words[(at + 16) >>> 2] === realtimeClock ? clock.realUs() : clock.monoUs();
    const durationUs = isAbsolute ? timeUs - nowUs : timeUs;
    if (durationUs > 0) clock.sleepUs?.(durationUs);
  }
}
