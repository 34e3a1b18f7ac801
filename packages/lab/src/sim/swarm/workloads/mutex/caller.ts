/**
 * Caller: a program that wants locks. It waits, tries, gives up, holds for a moment or for several times its ttl, works
 * on a fenced resource while it holds, and writes down what it saw.
 */
import {
  type AcquireOptions,
  AcquireTimeoutError,
  ClosedError,
  HoldfastError,
  type Lease,
  LeaseLostError,
  type Mutex,
  type MutexOptions,
  NoQuorumError,
  type ReleaseResult,
  ServerError,
} from "holdfast";
import type { Dice } from "../../../../chance/dice.js";
import type { Recorder } from "../../../../history/recorder.js";
import type { Process } from "../../../process.js";
import type { Caller } from "../../caller.js";
import { Timed } from "../../timed.js";
import { type Rounds, round } from "../../workload.js";
import { judgeFloor, judgeLimit, judgeOver } from "./answers.js";
import type { Belief } from "./belief.js";
import type { Beliefs } from "./beliefs.js";
import type { LockProcess, LockScene } from "./plan.js";
import type { Register } from "./register.js";
import type { Servers } from "./servers.js";
import { watchSignal } from "./signal-watch.js";

/** A Holdfast, or a Redlock. */
interface Locks {
  mutex(name: string, options: MutexOptions): Mutex;
}

export interface LockCallerParts {
  readonly scene: LockScene;
  readonly locks: Locks;
  readonly servers: Servers;
  readonly beliefs: Beliefs;
  readonly registers: ReadonlyMap<string, Register>;
  readonly plan: LockProcess;
}

/** So many holds compute for longer than their lease. */
const busyShare = 0.06;
/** By then every connection is back. */
const quietMs = 2_500;
/** Null: without an end. */
const waitsMs = [5, 50, 300, 1_000, 4_000, null] as const;
/** One in each third of the ttl, one more for each end, what was left to clean up, a script sent whole, and an inbox that opens. */
const mostRenewals = 11;
/** No hold lasts longer than somebody waits for it in the end. */
const longestRestMs = 12_000;
/** By then what came while the process stood still is heard. */
const answeredMs = 5;
/** How soon everybody must have had every lock once after the last fault, beyond the longest ttl and delay. */
export const settleMs = 11_000;

/** The canary of a program that writes whatever its token is worth. */
export const unfenced = "holders write without their token";
const anybody = { token: 1n, nonce: "anybody" };

/** Nobody holds the lock by the call that rejected. */
function hadNoEffect(error: unknown): boolean {
  return error === "had enough" || error instanceof AcquireTimeoutError || error instanceof NoQuorumError;
}

export class LockCaller implements Rounds {
  readonly name: string;
  readonly #caller: Caller;
  readonly #parts: LockCallerParts & Pick<Caller, "process">;
  readonly #recorder: Recorder;
  readonly kinds: Rounds["kinds"];
  readonly #floors = new Map<string, bigint>();
  /** It waits for a lock. */
  isAsking = false;

  constructor(caller: Caller, parts: LockCallerParts) {
    const { name, process, recorder } = caller;
    this.name = name;
    this.#caller = caller;
    this.#parts = { ...parts, process };
    this.#recorder = recorder;
    const { locks } = parts.scene.plan;
    const waits = (dice: Dice): [string, number | null] => [dice.pick(locks), dice.pick(waitsMs)];
    this.kinds = {
      try: round(
        (lock: string) => this.#once(lock, "try", parts.plan.callTimeoutMs * 2),
        4,
        (dice) => [dice.pick(locks)],
      ),
      wait: round((lock: string, waitMs: number | null) => this.#once(lock, "wait", waitMs), 13, waits),
      "give up": round(
        (lock: string, waitMs: number | null) => this.#once(lock, "give up", waitMs),
        3,
        waits,
      ),
      pair: round(
        (waitMs: number) => this.#pair(locks, waitMs),
        parts.plan.takesPairs ? 9 : 0,
        (dice) => [dice.pick([0, 0, 300])],
      ),
    };
  }

  get #dice(): Dice {
    return this.#caller.dice;
  }

  get process(): Process {
    return this.#parts.process;
  }

  /** Takes every lock once more. */
  async last(): Promise<void> {
    const { scene, process } = this.#parts;
    const { locks } = scene.plan;
    await process.sleep(answeredMs);
    for (const lock of locks) await this.#last(lock);
    const steady = scene.lives.get(scene.plan.processes[0]?.name ?? "")?.process;
    if (this.name === `${process.name}.1` && process === steady) await this.#steady(locks[0] as string);
  }

  #mutex(lock: string): Mutex {
    const { ttlMs: ttl, lockDelayMs: lockDelay, localTurns, maxHoldMs, lingerMs: linger } = this.#parts.plan;
    const limit = maxHoldMs === null ? {} : { maxHold: maxHoldMs };
    return this.#parts.locks.mutex(lock, { ttl, lockDelay, localTurns, linger, ...limit });
  }

  /** The caller takes a lock, and gives it back. A try takes two calls where its first token is below one that the process has seen. */
  async #once(lock: string, way: "try" | "wait" | "give up", mostMs: number | null): Promise<void> {
    const floor = this.#floors.get(lock);
    const options: AcquireOptions = floor === undefined ? {} : { floor };
    const waitMs = mostMs ?? Number.POSITIVE_INFINITY;
    const lease = await this.#acquire(lock, waitMs, (timed) => {
      const mutex = this.#mutex(lock);
      if (way === "try") return mutex.tryAcquire(options);
      if (way === "wait") return mutex.acquire({ wait: waitMs, ...options });
      const controller = new AbortController();
      this.#parts.process.after(this.#dice.between(0, 500), () => {
        timed.aborted();
        controller.abort("had enough");
      });
      return mutex.acquire({ wait: waitMs, ...options, signal: controller.signal });
    });
    if (!lease) return;
    judgeFloor(this.#parts.scene, this.name, lease, floor);
    await this.#hold(lock, lease);
  }

  /** All of them in one call, one lease for each that is granted, and back in one call. */
  async #pair(locks: readonly string[], waitMs: number): Promise<void> {
    const { plan, process, beliefs, scene } = this.#parts;
    const timeoutMs = waitMs || plan.callTimeoutMs * 2;
    const taken = await Promise.all(
      locks.map(async (lock) => {
        const lease = await this.#acquire(lock, timeoutMs, () =>
          waitMs > 0 ? this.#mutex(lock).acquire({ wait: waitMs }) : this.#mutex(lock).tryAcquire(),
        );
        return lease && this.#begin(lock, lease);
      }),
    );
    const held = taken.filter((belief) => belief !== null);
    for (const belief of held) watchSignal(scene, belief);
    const isLong = this.#dice.chance(0.3) && !scene.isEnding;
    await process.sleep(this.#dice.between(0, isLong ? plan.ttlMs * 1.5 : 20));
    for (const belief of held) beliefs.look(belief);
    await Promise.all(held.map((belief) => this.#release(belief.lock, belief)));
  }

  /** Everybody gets the lock once the faults are over. */
  async #last(lock: string): Promise<void> {
    const { scene } = this.#parts;
    const delayMs = Math.max(...scene.plan.processes.map(({ lockDelayMs }) => lockDelayMs));
    const waitMs = Math.round(scene.longestTtlMs + delayMs + settleMs);
    const lease = await this.#acquire(lock, waitMs, () => this.#mutex(lock).acquire({ wait: waitMs }));
    if (!lease) {
      if (this.#caller.isClosing) return;
      scene.fail("P1", `${this.name} did not get "${lock}" within ${waitMs} ms after all faults were over`);
      return;
    }
    await this.#parts.process.sleep(1);
    await this.#release(lock, this.#begin(lock, lease));
  }

  /** Nothing fails any more: a lease lasts for longer than its ttl, and goes back as what it is. */
  async #steady(lock: string): Promise<void> {
    const { scene, process, plan } = this.#parts;
    if (plan.maxHoldMs !== null) return;
    await process.sleep(quietMs);
    const lease = await this.#acquire(lock, settleMs, () => this.#mutex(lock).acquire({ wait: settleMs }));
    if (this.#caller.isClosing) return;
    if (!lease) {
      scene.fail("P1", `${this.name} did not get "${lock}" within ${settleMs} ms, long after all faults`);
      return;
    }
    const heldUpMs = process.heldUpMs;
    const belief = this.#begin(lock, lease);
    const packets = scene.packetsOf(process);
    await process.sleep(plan.ttlMs * 1.6);
    const renewals = scene.packetsOf(process) - packets;
    const isKept = lease.valid && !lease.signal.aborted;
    const result = await this.#release(lock, belief);
    if (process.heldUpMs > heldUpMs || this.#caller.isClosing) return;
    if (!isKept || result !== "released")
      scene.fail("steady", `${this.name} lost "${lock}" without any fault; its release said "${result}"`);
    if (plan.callers === 1 && renewals > mostRenewals * scene.nodes.length)
      scene.fail("P4", `${this.name} sent ${renewals} packets to keep one lease for 1.6 times its ttl`);
  }

  /** @param timeoutMs how long the call may take on the caller's clock */
  async #acquire(
    lock: string,
    timeoutMs: number,
    call: (timed: Timed) => Promise<Lease | null>,
  ): Promise<Lease | null> {
    const { scene, process, beliefs } = this.#parts;
    const pending = this.#recorder.begin("acquire", lock);
    const timed = new Timed(scene, process, `acquire of "${lock}"`, timeoutMs);
    const asked = beliefs.ask(lock, process);
    this.isAsking = true;
    const sinceMs = scene.world.nowMs;
    try {
      const lease = await call(timed);
      if (!lease) {
        pending.fail("busy");
        return null;
      }
      const { nowMs } = process;
      pending.ok({ token: lease.fence, nonce: lease.id, validUntilMs: nowMs + lease.remainingMs });
      return lease;
    } catch (error) {
      const code = this.#codeOf(error, lock);
      if (error instanceof ServerError) this.#caller.judgeRefusal(error, `acquire of "${lock}"`, { sinceMs });
      if (error instanceof AcquireTimeoutError) timed.timedOut();
      if (hadNoEffect(error)) pending.fail(code);
      else pending.info(code);
      return null;
    } finally {
      this.isAsking = false;
      asked();
      timed.settled();
    }
  }

  #begin(lock: string, lease: Lease): Belief {
    const { process, beliefs } = this.#parts;
    const belief: Belief = {
      lock,
      caller: this.name,
      process,
      lease,
      validMs: process.nowMs,
      wasValid: false,
      isOver: false,
      isLost: false,
      signal: null,
      hold: null,
    };
    beliefs.begin(belief);
    return belief;
  }

  async #hold(lock: string, lease: Lease): Promise<void> {
    const { process, plan, beliefs, scene } = this.#parts;
    const belief = this.#begin(lock, lease);
    const pending = this.#recorder.begin("hold", lock, { token: lease.fence, nonce: lease.id });
    belief.hold = pending;
    // Some ask for the signal when it is too late.
    if (!this.#dice.chance(0.1)) watchSignal(scene, belief);
    const holder = scene.canary === unfenced ? anybody : { token: lease.fence, nonce: lease.id };
    const goesToRegister = this.#dice.chance(0.5) && !scene.isEnding;
    const isCareful = scene.isHealed || scene.plan.faults.length === 0;
    const since = { monoMs: process.monoMs };
    if (!isCareful && this.#dice.chance(busyShare)) this.#computeTooLong(lease);
    const value = goesToRegister && beliefs.look(belief) ? await this.#enter(lock, holder) : null;
    const isLong = this.#dice.chance(0.15) && !scene.isEnding;
    const restMs = this.#dice.between(0, isLong ? Math.min(plan.ttlMs * 2.5, longestRestMs) : 40);
    // Some look at nothing for long, and rely on the signal.
    const isBlind = isLong && this.#dice.chance(0.4);
    const steps = isBlind ? 1 : isLong ? 5 : 2;
    for (let step = 0; step < steps; step++) {
      await process.sleep(restMs / steps);
      judgeLimit(scene, belief, since);
      if (!beliefs.look(belief) || scene.isEnding) break;
    }
    if (value !== null && beliefs.look(belief)) await this.#write(lock, holder, value + 1);
    beliefs.look(belief);
    pending.ok({ endMs: belief.validMs });
    await this.#release(lock, belief);
  }

  /** Past the end of the lease without a turn of the event loop: no timer could say so, a look at the clock does. */
  #computeTooLong(lease: Lease): void {
    const { process, scene } = this.#parts;
    const leftMs = lease.remainingMs;
    if (leftMs <= 0) return;
    process.stall((leftMs + 1) / process.rate);
    if (lease.valid)
      scene.fail("L6", `${this.name} computed for ${leftMs + 1} ms, and its lease is still valid`);
  }

  async #release(lock: string, belief: Belief): Promise<ReleaseResult> {
    const { beliefs, plan, scene, process } = this.#parts;
    const pending = this.#recorder.begin("release", lock, { token: belief.lease.fence });
    const timed = new Timed(scene, process, `release of "${lock}"`, plan.callTimeoutMs * 2);
    const answered = this.#parts.servers.watchRelease(belief);
    beliefs.end(belief);
    const result = await belief.lease.release();
    timed.settled();
    answered(result);
    const { lease } = belief;
    judgeOver(scene, belief, result);
    if ((await lease.release()) !== result)
      scene.fail("L8", `${this.name} was told twice how "${lock}" ended`);
    const reason: unknown = belief.lease.signal.reason;
    if (result === "unknown") pending.info(result);
    else if (reason instanceof LeaseLostError && reason.reason === "closed") pending.fail(reason.reason);
    else if (result === "lapsed") pending.fail(result);
    else pending.ok();
    return result;
  }

  async #enter(lock: string, holder: { token: bigint; nonce: string }): Promise<number | null> {
    const pending = this.#recorder.begin("enter", `${lock} register`, holder);
    const register = this.#parts.registers.get(lock) as Register;
    const verdict = await register.enter(this.#parts.process, holder);
    const value = { place: verdict.place };
    if (verdict.isAccepted) pending.ok({ value });
    else pending.fail("STALE_TOKEN", { value });
    if (!verdict.isAccepted) this.#floors.set(lock, verdict.seen);
    return verdict.isAccepted ? verdict.value : null;
  }

  async #write(lock: string, holder: { token: bigint; nonce: string }, next: number): Promise<void> {
    const pending = this.#recorder.begin("write", `${lock} register`, holder);
    const register = this.#parts.registers.get(lock) as Register;
    const verdict = await register.write(this.#parts.process, holder, next);
    const value = { place: verdict.place };
    if (!verdict.isAccepted) {
      this.#floors.set(lock, verdict.seen);
      pending.fail("STALE_TOKEN", { value });
      return;
    }
    pending.ok({ value });
    if (verdict.value !== next - 1)
      this.#parts.scene.fail("L3", `${this.name} overwrote an update of "${lock}" that it had not read`);
  }

  #codeOf(error: unknown, lock: string): string {
    if (error === "had enough") return "had enough";
    if (error instanceof ClosedError && !this.#caller.isClosing)
      this.#parts.scene.fail(
        "error",
        `acquire of "${lock}" by ${this.name} was ended by a close() that nobody called`,
      );
    if (error instanceof HoldfastError) return error.code;
    this.#parts.scene.fail("error", `acquire of "${lock}" by ${this.name} rejected with ${String(error)}`);
    return "unexpected";
  }
}
