/// <reference lib="esnext.disposable" preserve="true" />
/**
 * InnerLease: a re-entry. Its owner held the name already, and asked for it again. It is the outer lease under another handle: its
 * release ends only itself, and it is over when the outer lease is. How deep an owner has gone is known to the handles alone, and not to
 * the store.
 */
import { fromCaller, InvalidArgumentError, LeaseReleasedError } from "../errors.js";
import type { LeaseHandle } from "../lease/handle.js";
import { type Lease, type LeaseJson, leaseJson, type ReleaseResult, showLease } from "../lease/lease.js";
import { INSPECT, type InspectArguments } from "../shown.js";
import type { AttemptSettings } from "./lock-options.js";
import type { Ownership } from "./ownership.js";

/** A re-entry by the owner of the name; null when it does not hold the mutex. Sends nothing. @throws {InvalidArgumentError} */
export function reenter(
  ownership: Ownership,
  name: string,
  { minFence, owner }: AttemptSettings,
): InnerLease | null {
  const held = ownership.of(owner)?.held.find(({ noun, lease }) => noun === "mutex" && lease.name === name);
  if (!held) return null;
  const { fence } = held.lease;
  if (minFence > fence) {
    const why = `is not below ${fence}, the fence of the lease on '${name}' that the same owner holds: release that lease first`;
    throw new InvalidArgumentError("floor", why);
  }
  return new InnerLease(held.lease);
}

export class InnerLease implements Lease {
  readonly name: string;
  readonly fence: bigint;
  readonly id: string;
  readonly #outer: Lease;
  #released: ReleaseResult | null = null;

  constructor(outer: Lease) {
    this.name = outer.name;
    this.fence = outer.fence;
    this.id = outer.id;
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    return this.#outer.signal;
  }

  get valid(): boolean {
    return this.#released === null && this.#outer.valid;
  }

  get remainingMs(): number {
    return this.#released === null ? this.#outer.remainingMs : 0;
  }

  check(): void {
    if (this.#released === "released") throw new LeaseReleasedError(this.name, this.fence);
    this.#outer.check();
  }

  async release(): Promise<ReleaseResult> {
    this.#released ??= this.#outer.valid ? "released" : "lapsed";
    return this.#released;
  }

  async handOver(): Promise<LeaseHandle> {
    const why = "is a re-entry: hand over the outermost lease, which the code around it holds";
    throw fromCaller(new InvalidArgumentError("lease", why), this.handOver);
  }

  toJSON(): LeaseJson {
    return leaseJson(this);
  }

  [INSPECT](...inspecting: InspectArguments): string {
    return showLease(this, inspecting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}
