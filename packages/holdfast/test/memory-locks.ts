/** A store of locks in memory, over the public port: the least that a backend has to do. Several backends may share it. */
import type {
  Busy,
  Claim,
  ClaimObserver,
  Clock,
  Freed,
  Grant,
  Holder,
  LockBackend,
  LockInspection,
  RenewOutcome,
  StoreClaim,
} from "holdfast/locks";

interface Held {
  readonly claim: MemoryClaim;
  untilMs: number;
  cancel(): void;
}

export class MemoryStore {
  readonly holders = new Map<string, Held>();
  readonly lines = new Map<string, Set<MemoryClaim>>();
  /** Its own, by which names end; a process may have another. */
  readonly clock: Clock;
  token = 0n;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Milliseconds for which the name stays held; 0 when it is free. */
  leftMs(name: string): number {
    return Math.max((this.holders.get(name)?.untilMs ?? 0) - this.clock.now().monoMs, 0);
  }

  /** Keeps the name for its `storeTtlMs` from now, and then gives it to the next. */
  keep(claim: MemoryClaim): void {
    const { name, storeTtlMs } = claim.claim;
    this.holders.get(name)?.cancel();
    const untilMs = this.clock.now().monoMs + storeTtlMs;
    // One later, because a timer may be early by less than that.
    const cancel = this.clock.setTimer(() => this.serve(name), storeTtlMs + 1);
    this.holders.set(name, { claim, untilMs, cancel });
  }

  /** Gives a free name to the first in line. */
  serve(name: string): void {
    for (const claim of this.lines.get(name) ?? []) {
      const grant = claim.take();
      if (!grant) return;
      this.lines.get(name)?.delete(claim);
      // Unless it was abandoned meanwhile.
      queueMicrotask(() => {
        if (this.holders.get(name)?.claim === claim) claim.observer.granted(claim, grant);
      });
    }
  }

  free(name: string, id: string): boolean {
    const held = this.holders.get(name);
    const isHolder = held?.claim.claim.id === id;
    if (isHolder) {
      held.cancel();
      this.holders.delete(name);
    }
    const wasLive = isHolder && held.untilMs > this.clock.now().monoMs;
    this.serve(name);
    return wasLive;
  }

  /** Takes the name from its holder, who hears of it at once. */
  revoke(name: string): void {
    const claim = this.holders.get(name)?.claim;
    if (!claim) return;
    claim.observer.lost(claim, "revoked");
    this.free(name, claim.claim.id);
  }
}

class MemoryClaim implements StoreClaim {
  readonly claim: Claim;
  readonly observer: ClaimObserver;
  readonly store: MemoryStore;
  readonly clock: Clock;

  constructor(claim: Claim, observer: ClaimObserver, { store, clock }: MemoryLocks) {
    this.claim = claim;
    this.observer = observer;
    this.store = store;
    this.clock = clock;
  }

  take(): Grant | null {
    const { store, claim } = this;
    const sentAt = this.clock.now();
    if (store.leftMs(claim.name) > 0) return null;
    const token = store.token >= claim.minFence ? store.token + 1n : claim.minFence;
    store.token = token + BigInt(claim.turns - 1);
    store.keep(this);
    return { token, turns: claim.turns, ttlMs: claim.ttlMs, sentAt };
  }

  async attempt(): Promise<Grant | Busy> {
    return this.take() ?? { owner: null, ahead: null };
  }

  stand(): void {
    const { name } = this.claim;
    const line = this.store.lines.get(name) ?? new Set();
    this.store.lines.set(name, line.add(this));
    const busy = { owner: null, ahead: line.size - 1 };
    queueMicrotask(() => line.has(this) && this.observer.waiting(this, busy));
    this.store.serve(name);
  }

  release(_: number, told: (freed: Freed) => void): void {
    const isFreed = this.store.free(this.claim.name, this.claim.id);
    queueMicrotask(() => told(isFreed ? "released" : "absent"));
  }

  forget(): void {}

  abandon(): void {
    this.store.lines.get(this.claim.name)?.delete(this);
    this.store.free(this.claim.name, this.claim.id);
  }
}

export class MemoryLocks implements LockBackend {
  readonly store: MemoryStore;
  readonly clock: Clock;

  constructor(store: MemoryStore, clock: Clock) {
    this.store = store;
    this.clock = clock;
  }

  claim(claim: Claim, observer: ClaimObserver): StoreClaim {
    return new MemoryClaim(claim, observer, this);
  }

  async renew(holders: readonly Holder[]): Promise<RenewOutcome[]> {
    return holders.map(({ name, id }) => {
      const held = this.store.holders.get(name);
      if (held?.claim.claim.id !== id || this.store.leftMs(name) === 0) return "lost";
      this.store.keep(held.claim);
      return "renewed";
    });
  }

  get inspection(): LockInspection {
    throw new Error("nobody looks at these locks");
  }

  async close(): Promise<void> {}
}
