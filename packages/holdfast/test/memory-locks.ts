/** A store of locks in memory, over the public port: the least that a backend has to do. Several backends may share it. */
import type { Clock } from "holdfast";
import type {
  Busy,
  Claim,
  ClaimObserver,
  Freed,
  Grant,
  Holder,
  LockBackend,
  LockInspection,
  RenewOutcome,
  StoreClaim,
} from "holdfast/locks";

export class MemoryStore {
  readonly holders = new Map<string, { readonly claim: MemoryClaim; untilMs: number }>();
  readonly lines = new Map<string, Set<MemoryClaim>>();
  token = 0n;

  /** Gives a free name to the first in line. */
  serve(name: string): void {
    for (const claim of this.lines.get(name) ?? []) {
      const grant = claim.take();
      if (!grant) return;
      this.lines.get(name)?.delete(claim);
      queueMicrotask(() => claim.observer.granted(claim, grant));
    }
  }

  free(name: string, id: string): boolean {
    const held = this.holders.get(name)?.claim.claim.id === id && this.holders.delete(name);
    this.serve(name);
    return held;
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
    if ((store.holders.get(claim.name)?.untilMs ?? 0) > sentAt.monoMs) return null;
    store.token = store.token >= claim.minFence ? store.token + 1n : claim.minFence;
    store.holders.set(claim.name, { claim: this, untilMs: sentAt.monoMs + claim.storeTtlMs });
    return { token: store.token, turns: 1, ttlMs: claim.ttlMs, sentAt };
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

  async release(): Promise<Freed> {
    return this.store.free(this.claim.name, this.claim.id) ? "released" : "absent";
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
      if (held?.claim.claim.id !== id) return "lost";
      held.untilMs = this.clock.now().monoMs + held.claim.claim.storeTtlMs;
      return "renewed";
    });
  }

  get inspection(): LockInspection {
    throw new Error("nobody looks at these locks");
  }

  async close(): Promise<void> {}
}
