/** LabClocks: the manual clocks of one case. */
import { ManualClock } from "./clock.js";
import { afterRealMs } from "./time.js";

const END_STEP_MS = 10;
const END_ADVANCE_MS = 200;

export class LabClocks {
  readonly #clocks: ManualClock[] = [];

  create(): ManualClock {
    const clock = new ManualClock();
    this.#clocks.push(clock);
    return clock;
  }

  /** Lets manual time run, so that limits that count in it end. Returns what stops it. */
  run(): () => void {
    let cancel = (): void => {};
    const tick = (): void => {
      for (const clock of this.#clocks) clock.advance(END_ADVANCE_MS);
      cancel = afterRealMs(END_STEP_MS, tick);
    };
    tick();
    return () => cancel();
  }
}
