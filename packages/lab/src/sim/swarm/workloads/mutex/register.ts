/**
 * Register: a resource with a fence, far away and without a fault of its own. It takes requests in the order in which
 * they arrive, which is not the one in which they were sent.
 */
import type { Dice } from "../../../../chance/dice.js";
import type { Process } from "../../../process.js";
import type { Stage } from "../../../stage.js";

export interface Holder {
  readonly token: bigint;
  readonly nonce: string;
}

export interface Verdict {
  readonly isAccepted: boolean;
  /** The token that it has seen. */
  readonly seen: bigint;
  /** Of what it did, in order. */
  readonly place: number;
  /** How often it was written. */
  readonly value: number;
}

/** Most requests are quick; some are long under way. */
const quickMs = [0.2, 3] as const;
const slowMs = [50, 1_500] as const;
const slowShare = 0.04;

export class Register {
  readonly #stage: Stage;
  readonly #dice: Dice;
  #seen: Holder = { token: 0n, nonce: "" };
  #places = 0;
  #value = 0;

  constructor(stage: Stage, name: string) {
    this.#stage = stage;
    this.#dice = stage.dice(`register ${name}`);
  }

  /** Raises the fence; `value` is what is there. */
  enter(process: Process, holder: Holder): Promise<Verdict> {
    return this.#ask(process, holder, () => {});
  }

  /** Replaces what is there by `value`, if nobody newer was here. */
  write(process: Process, holder: Holder, value: number): Promise<Verdict> {
    return this.#ask(process, holder, () => {
      this.#value = value;
    });
  }

  #ask(process: Process, holder: Holder, act: () => void): Promise<Verdict> {
    return new Promise((resolve) => {
      const arrivesMs = process.nowMs + this.#delayMs();
      const arrive = (): void => {
        const verdict = this.#judge(holder, act);
        const about = { owner: process, kind: "input", quiet: false } as const;
        this.#stage.events.add(this.#stage.nowMs + this.#delayMs(), () => resolve(verdict), about);
      };
      this.#stage.events.add(arrivesMs, arrive, { owner: null, kind: "other", quiet: true });
    });
  }

  #judge(holder: Holder, act: () => void): Verdict {
    const { token, nonce } = this.#seen;
    const isAccepted = holder.token > token || (holder.token === token && holder.nonce === nonce);
    const value = this.#value;
    this.#places += 1;
    if (isAccepted) {
      this.#seen = holder;
      act();
    }
    return { isAccepted, seen: this.#seen.token, place: this.#places, value };
  }

  #delayMs(): number {
    const [shortest, longest] = this.#dice.chance(slowShare) ? slowMs : quickMs;
    return this.#dice.between(shortest, longest);
  }
}
