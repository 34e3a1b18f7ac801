/** Settlements: the deliveries that wait for the request which settles them. */
import type { HeldDelivery } from "./delivery.js";
import type { Return, Settlement } from "./delivery-scripts.js";

/** In one request. */
const MOST = 500;
/** Bytes of results in one request, nearly. */
const MOST_RESULTS = 65_536;
/** Bytes of bodies that one request moves back, nearly. */
const MOST_RETURNED = 262_144;

export class Settlements {
  #acks: HeldDelivery[] = [];
  #returns: HeldDelivery[] = [];

  get hasAcks(): boolean {
    return this.#acks.length > 0;
  }

  get hasReturns(): boolean {
    return this.#returns.length > 0;
  }

  get isEmpty(): boolean {
    return !this.hasAcks && !this.hasReturns;
  }

  add(delivery: HeldDelivery): void {
    if (delivery.settling?.kind === "ack") this.#acks.push(delivery);
    else this.#returns.push(delivery);
  }

  /** Those of the next `take`. The lease of one that waited may have ended meanwhile. */
  nextAcks(): HeldDelivery[] {
    const acks: HeldDelivery[] = [];
    let bytes = 0;
    let count = 0;
    for (const delivery of this.#acks) {
      if (acks.length === MOST || bytes > MOST_RESULTS) break;
      count += 1;
      if (!delivery.isSettling) continue;
      delivery.isSent = true;
      acks.push(delivery);
      bytes += settlementOf(delivery).result?.length ?? 0;
    }
    this.#acks = count === this.#acks.length ? [] : this.#acks.slice(count);
    return acks;
  }

  /** Those of the next `back`. */
  nextReturns(): HeldDelivery[] {
    let bytes = 0;
    let count = 0;
    while (count < Math.min(MOST, this.#returns.length) && bytes < MOST_RETURNED) {
      bytes += this.#returns[count]?.size ?? 0;
      count += 1;
    }
    const returns = this.#returns.splice(0, count).filter(({ isSettling }) => isSettling);
    for (const delivery of returns) delivery.isSent = true;
    return returns;
  }

  /** Those that no request has taken along. */
  drop(): HeldDelivery[] {
    const dropped = [...this.#acks, ...this.#returns];
    this.#acks = [];
    this.#returns = [];
    return dropped;
  }
}

export function settlementOf({ handle, settling }: HeldDelivery): Settlement {
  return { handle, result: settling?.kind === "ack" ? settling.result : undefined };
}

export function returnOf({ handle, settling }: HeldDelivery): Return {
  if (settling?.kind !== "return") return { handle, delayMs: 0, isAttempt: true };
  const { delayMs, isAttempt, reason } = settling;
  return { handle, delayMs, isAttempt, reason };
}
