/** RedisWaits: the records of waits on one Redis or Valkey. Each is a key of its own, which the id of the lease spreads over a cluster. */
import type { RedisContext } from "../../../redis/context.js";
import { waitsKey } from "../../../redis/keys.js";
import type { LockNoun } from "../../../telemetry/events.js";
import type { LockInspection } from "../../inspection.js";
import type { PermitInspection } from "../../permit-inspection.js";
import type { NameState, WaitStore } from "../../wait-store.js";

/** Holders of permits that a look lists, and waiters: nobody looks at a long line as often as this does. */
const MOST = 256;

export interface Inspections {
  readonly mutex: Pick<LockInspection, "look">;
  readonly semaphore: Pick<PermitInspection, "look">;
  readonly rwlock: Pick<PermitInspection, "look">;
}

export class RedisWaits implements WaitStore {
  readonly #context: Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">;
  readonly #inspections: Inspections;

  constructor(context: Pick<RedisContext, "port" | "prefix" | "callTimeoutMs">, inspections: Inspections) {
    this.#context = context;
    this.#inspections = inspections;
  }

  async look(noun: LockNoun, name: string): Promise<NameState> {
    if (noun === "mutex") return this.#lookAtMutex(name);
    const { permits, holders, waiters } = await this.#inspections[noun].look(name, MOST);
    return { noun, name, permits: permits ?? 0, holders, line: waiters };
  }

  async #lookAtMutex(name: string): Promise<NameState> {
    // Who is in line does not matter where everybody wants all.
    const { holder } = await this.#inspections.mutex.look(name, 1);
    return {
      noun: "mutex",
      name,
      permits: 1,
      holders: holder ? [{ ...holder, permits: 1 }] : [],
      line: [],
    };
  }

  /** Calls of one turn of the event loop travel together: a GET for each costs one round trip, in whatever slots they are. */
  read(leaseIds: readonly string[]): Promise<readonly (string | null)[]> {
    return Promise.all(
      leaseIds.map(async (id) => {
        const reply = await this.#command("GET", id);
        return reply === null ? null : String(reply);
      }),
    );
  }

  async write(leaseId: string, record: string, keepMs: number): Promise<void> {
    await this.#command("SET", leaseId, record, "PX", String(keepMs));
  }

  async remove(leaseId: string): Promise<void> {
    await this.#command("DEL", leaseId);
  }

  #command(name: string, leaseId: string, ...more: readonly string[]) {
    const { port, prefix, callTimeoutMs } = this.#context;
    return port.command([name, waitsKey(prefix, leaseId), ...more], callTimeoutMs);
  }
}
