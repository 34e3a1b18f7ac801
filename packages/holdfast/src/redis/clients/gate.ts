/**
 * Gate: passes on what a subscription brings in, until it is shut. A connection that was given up may
 * still report, and must not be taken for the one that came in its place.
 */
import type { Inbound } from "../port.js";

export class Gate implements Inbound {
  readonly #inbound: Inbound;
  #shut = false;

  constructor(inbound: Inbound) {
    this.#inbound = inbound;
  }

  message(text: string): void {
    if (!this.#shut) this.#inbound.message(text);
  }

  up(): void {
    if (!this.#shut) this.#inbound.up();
  }

  down(refusal: Error | null): void {
    if (!this.#shut) this.#inbound.down(refusal);
  }

  shut(): void {
    this.#shut = true;
  }
}
