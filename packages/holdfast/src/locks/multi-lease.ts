/// <reference lib="esnext.disposable" preserve="true" />
/** MultiLease: the leases of one caller on all parts of a multiLock. It is live while all of them are. */

import type { Lease, LeaseJson, ReleaseResult } from "../lease/lease.js";
import { INSPECT, type InspectArguments, shown } from "../shown.js";
import { whenAborted } from "../time/abort.js";

export class MultiLease {
  /** The leases, in the order in which the parts were given. */
  readonly leases: readonly Lease[];
  #controller: AbortController | null = null;

  /** Made by `acquire` of a multiLock. */
  constructor(leases: readonly Lease[]) {
    this.leases = leases;
  }

  /** The fencing token of each lease, in the order in which the parts were given. Pass each to the resource of its own name. */
  get fences(): readonly bigint[] {
    return this.leases.map(({ fence }) => fence);
  }

  /** Aborts with the LeaseLostError of the first lease that is lost, as the signal of a lease does. A release does not abort it. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      for (const { signal } of this.leases) whenAborted(signal, () => controller.abort(signal.reason));
    }
    return this.#controller.signal;
  }

  /** Whether all leases are live now. */
  get valid(): boolean {
    return this.leases.every(({ valid }) => valid);
  }

  /** Milliseconds until the first of the leases expires unless it is renewed; 0 when one of them is over. */
  get remainingMs(): number {
    return Math.min(...this.leases.map(({ remainingMs }) => remainingMs));
  }

  /**
   * Throws unless all leases are valid. Call it before each side effect.
   * @throws {LeaseLostError} one of the leases is over
   * @throws {LeaseReleasedError} one of them was released
   */
  check(): void {
    for (const lease of this.leases) lease.check();
  }

  /**
   * Releases all leases together. Returns the worst of their results: "unknown", else "lapsed", else "released". The promise never
   * rejects, and a repeated call has the result of the first one.
   */
  async release(): Promise<ReleaseResult> {
    const results = await Promise.all(this.leases.map((lease) => lease.release()));
    if (results.includes("unknown")) return "unknown";
    return results.includes("lapsed") ? "lapsed" : "released";
  }

  /** For logs. */
  toJSON(): { readonly leases: readonly LeaseJson[]; readonly valid: boolean; readonly remainingMs: number } {
    const { leases, valid, remainingMs } = this;
    return { leases: leases.map((lease) => lease.toJSON()), valid, remainingMs };
  }

  [INSPECT](...inspecting: InspectArguments): string {
    const { leases, valid, remainingMs } = this;
    return shown("MultiLease", { leases, valid, remainingMs }, inspecting);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }
}
