/** The locks together: callers nest locks in any order, enter again, take two at once, hand over, and adopt. */
import { DeadlockError, type Lease, type LeaseHandle } from "holdfast";
import { checkIntervals } from "../../history/intervals.js";
import type { Operation } from "../../history/operation.js";
import { checkTokens } from "../../history/tokens.js";
import type { Breach } from "../../history/violation.js";
import { monoMs } from "../time.js";
import type { Caller, Found, Rounds, Workload } from "./workload.js";

const ttlMs = 1_000;
const names = ["first", "second", "third"] as const;
/** Where a handle lies on its way. */
const handles = "family:handles";
const naiveKey = "canary:family";
const lastWaitMs = 30_000;
/** Notes that a grant came with others: one of them may have been held for as long as the others were waited for. */
const ofMany = "of many";

export const family: Workload = {
  name: "family",
  canary: "a release by the giver, and SET NX by the other, without a fence",
  join: (caller) => (caller.isNaive ? new NaiveCaller(caller) : new FamilyCaller(caller)),
  judge,
};

class FamilyCaller implements Rounds {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async round(): Promise<void> {
    const { dice } = this.#caller;
    const what = dice.pick(["nest", "nest", "nest", "many", "hand", "adopt"] as const);
    if (what === "nest") await this.#nest(dice.shuffle(names).slice(0, 2), dice.pick([300, 1_500, 4_000]));
    else if (what === "many") await this.#many();
    else if (what === "hand") await this.#handOver();
    else await this.#adopt();
  }

  /** Once the faults are over, everybody has all locks, in an order of its own: circles end, and nobody keeps what it lost. */
  async last(): Promise<void> {
    const untilMs = monoMs() + lastWaitMs;
    const order = this.#caller.dice.shuffle(names);
    while (!(await this.#nest(order, lastWaitMs))) {
      if (monoMs() > untilMs) throw new Error(`${this.#caller.name} did not get all locks after all faults`);
      await this.#caller.pause(20);
    }
  }

  /** Whether it got all. */
  async #nest(order: readonly string[], waitMs: number, owner: object = {}): Promise<boolean> {
    const [name, ...rest] = order;
    if (name === undefined) return true;
    const { hf, dice } = this.#caller;
    const mutex = hf.mutex(name, { ttl: ttlMs, reentrant: true });
    const lease = await this.#acquire("acquire", name, () => mutex.acquire({ wait: waitMs, owner }), waitMs);
    if (!lease) return false;
    await this.#hold(name, lease, dice.between(0, 40));
    if (dice.chance(0.3) && lease.valid) await this.#reenter(name, lease, owner);
    const isWhole = await this.#nest(rest, waitMs, owner);
    await this.#release(name, lease);
    return isWhole;
  }

  async #reenter(name: string, { id, fence }: Lease, owner: object): Promise<void> {
    const mutex = this.#caller.hf.mutex(name, { reentrant: true, ttl: ttlMs });
    const attempt = await this.#caller.attempt("re-enter", name, () => mutex.tryAcquire({ owner }), {
      // Whoever lost the lease meanwhile gets another one.
      found: (again) => (again?.id === id ? { value: [String(fence), String(again.fence)] } : {}),
    });
    if (attempt.type === "ok") await attempt.value?.release();
  }

  async #many(): Promise<void> {
    const { hf, dice } = this.#caller;
    const pair = dice.shuffle(names).slice(0, 2);
    const multi = hf.multiLock(pair.map((name) => hf.mutex(name, { ttl: ttlMs })));
    const waitMs = dice.pick([0, 1_500]);
    const attempt = await this.#caller.attempt(
      "take all",
      pair.join("+"),
      () => (waitMs === 0 ? multi.tryAcquire() : multi.acquire({ wait: waitMs })),
      { withinMs: waitMs + 4 * this.#caller.callTimeoutMs },
    );
    if (attempt.type !== "ok" || !attempt.value) return;
    const { leases } = attempt.value;
    const written = leases.map((lease) =>
      this.#caller.recorder.begin("acquire", lease.name, { value: ofMany }),
    );
    for (const [place, { fence, id }] of leases.entries()) written[place]?.ok({ token: fence, nonce: id });
    await Promise.all(leases.map((lease) => this.#hold(lease.name, lease, dice.between(0, 60))));
    await Promise.all(leases.map((lease) => this.#release(lease.name, lease)));
  }

  async #handOver(): Promise<void> {
    const { hf, dice, redis, callTimeoutMs } = this.#caller;
    const name = dice.pick(names);
    const mutex = hf.mutex(name, { ttl: ttlMs });
    const lease = await this.#acquire("acquire", name, () => mutex.acquire({ wait: 1_500 }), 1_500);
    if (!lease) return;
    await this.#hold(name, lease, dice.between(0, 60));
    const attempt = await this.#caller.attempt("hand over", name, () => lease.handOver(), {
      withinMs: 3 * callTimeoutMs,
      details: { token: lease.fence },
    });
    if (attempt.type !== "ok") await this.#release(name, lease);
    else
      await redis.rpush(handles, JSON.stringify(attempt.value)).then(
        () => redis.pexpire(handles, 60_000),
        () => 0,
      );
  }

  async #adopt(): Promise<void> {
    const { hf, redis, dice, callTimeoutMs } = this.#caller;
    const text = await redis.lpop(handles).catch(() => null);
    if (!text) return;
    const handle = JSON.parse(text) as LeaseHandle;
    const adopt = () => hf.adopt(handle, { ttl: ttlMs });
    const lease = await this.#acquire("adopt", handle.name, adopt, 3 * callTimeoutMs, {
      value: handle.fence,
    });
    if (!lease) return;
    await this.#hold(handle.name, lease, dice.between(0, 60));
    await this.#release(handle.name, lease);
  }

  async #acquire(
    f: "acquire" | "adopt",
    name: string,
    call: () => Promise<Lease>,
    waitMs: number,
    details: { readonly value?: string } = {},
  ): Promise<Lease | null> {
    const attempt = await this.#caller.attempt(f, name, call, {
      withinMs: waitMs + 2 * this.#caller.callTimeoutMs,
      details,
      found: ({ fence, id }) => ({ token: fence, nonce: id }),
    });
    if (attempt.type === "ok") return attempt.value;
    if (attempt.error instanceof DeadlockError) this.#tell(attempt.error);
    return null;
  }

  /** The parent looks whether there was such a circle. */
  #tell({ lock, circle }: DeadlockError): void {
    const steps = circle.map(({ name, fence }) => [name, String(fence)]);
    this.#caller.recorder.begin("circle", lock, { value: JSON.stringify(steps) }).ok({});
  }

  /** Written down as long as it is seen to be valid. */
  async #hold(key: string, lease: Lease, forMs: number): Promise<void> {
    const { recorder, dice } = this.#caller;
    let validMs = monoMs();
    const validUntilMs = validMs + lease.remainingMs;
    const pending = recorder.begin("hold", key, { token: lease.fence, nonce: lease.id, validUntilMs });
    const untilMs = validMs + forMs;
    for (;;) {
      const lookedMs = monoMs();
      if (!lease.valid) break;
      validMs = lookedMs;
      if (lookedMs >= untilMs) break;
      await this.#caller.pause(dice.between(1, 20));
    }
    pending.ok({ endMs: validMs });
  }

  async #release(key: string, lease: Lease): Promise<void> {
    await this.#caller.attempt("release", key, () => lease.release(), {
      withinMs: 3 * this.#caller.callTimeoutMs,
      details: { token: lease.fence },
    });
  }
}

/** Holds what SET NX gave it for as long as it likes, and deletes the key whoever has it by then. */
class NaiveCaller implements Rounds {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async round(): Promise<void> {
    const { redis, recorder, dice, name } = this.#caller;
    const attempt = await this.#caller.attempt(
      "acquire",
      naiveKey,
      async () => {
        const isMine = await redis.set(naiveKey, name, "PX", ttlMs, "NX");
        return isMine ? { token: BigInt(Math.round(monoMs() * 1_000)), nonce: `${name} ${monoMs()}` } : null;
      },
      { found: (held) => held ?? {} },
    );
    if (attempt.type !== "ok" || !attempt.value) return;
    const fromMs = monoMs();
    const pending = recorder.begin("hold", naiveKey, { ...attempt.value, validUntilMs: fromMs + 2 * ttlMs });
    await this.#caller.pause(dice.between(0, dice.chance(0.5) ? 2 * ttlMs : 60));
    pending.ok({ endMs: monoMs() });
    await this.#caller.attempt("release", naiveKey, () => redis.del(naiveKey));
  }
}

function judge(found: Found): Breach[] {
  const deathsMs = new Map(
    found.operations.map(({ process }) => [process, found.deathsMs.get(workerOf(process)) ?? Infinity]),
  );
  return found.stretches().flatMap((kept) => {
    const grants = kept.filter(({ f, token }) => (f === "acquire" || f === "adopt") && token !== undefined);
    const nonces = new Set(grants.map(({ nonce }) => nonce));
    // Who was granted it before the server forgot may hold it beside whoever was granted it after.
    const holds = kept.filter(({ f, nonce }) => f === "hold" && nonces.has(nonce)).map(ended);
    return [
      ...checkTokens(
        grants.map((grant) => ({ ...grant, invMs: sinceMs(grant, found.operations) })),
        { f: ["acquire", "adopt"] },
      ),
      ...[...names, naiveKey].flatMap((key) =>
        checkIntervals(
          holds.filter((hold) => hold.key === key),
          { deathsMs },
        ),
      ),
      ...kept.flatMap((one) => [
        ...betweenOf(one, grants),
        ...reentryOf(one),
        ...circleOf(one, kept, found.operations),
      ]),
    ];
  });
}

/** When a grant was asked for. One of many is written down when all are there, and was asked for with them. */
function sinceMs({ process, key, value, invMs }: Operation, all: readonly Operation[]): number {
  if (value !== ofMany) return invMs;
  const whole = all.findLast(
    (one) =>
      one.process === process &&
      one.f === "take all" &&
      one.key.split("+").includes(key) &&
      (one.retMs ?? Infinity) <= invMs,
  );
  return whole?.invMs ?? -Infinity;
}

/** C4: nobody is granted the lock between the giver and the adopter. */
function betweenOf(adoption: Operation, grants: readonly Operation[]): Breach[] {
  const { f, key, token, value } = adoption;
  if (f !== "adopt" || token === undefined) return [];
  const from = BigInt(String(value));
  const between = grants.filter(
    (one) => one.key === key && (one.token ?? 0n) > from && (one.token ?? 0n) < token,
  );
  const late = token <= from ? [adoption] : [];
  return [...between, ...late].map((one) => ({
    property: "C4",
    key,
    operations: [one, adoption],
    message: `${adoption.process} adopted ${from} with ${token}, and ${one.process} had ${one.token}`,
    atMs: one.invMs,
  }));
}

/** C5: a re-entry keeps the fence. */
function reentryOf(operation: Operation): Breach[] {
  const { f, key, value, process, invMs: atMs } = operation;
  if (f !== "re-enter" || !Array.isArray(value) || value[0] === value[1]) return [];
  const message = `${process} held it with ${value[0]}, and entered it again with ${value[1]}`;
  return [{ property: "C5", key, operations: [operation], message, atMs }];
}

/**
 * C2: there was a moment at which all of the circle held and waited. Where a holder did not come to write down its grant, nobody knows.
 * @param all a wait may go on after the server has forgotten
 */
function circleOf(told: Operation, kept: readonly Operation[], all: readonly Operation[]): Breach[] {
  if (told.f !== "circle") return [];
  const steps = JSON.parse(String(told.value)) as [name: string, fence: string][];
  let [fromMs, toMs] = [0, told.invMs];
  for (const [place, [name, fence]] of steps.entries()) {
    const [next] = steps[(place + 1) % steps.length] as [string, string];
    const ofFence = (f: string) => (one: Operation) =>
      one.f === f && one.key === name && String(one.token) === fence;
    const grant = kept.find(ofFence("acquire")) ?? kept.find(ofFence("adopt"));
    if (!grant) return [];
    const ending = kept.find(ofFence("release"));
    const wait = all.findLast(
      (one) =>
        one.process === grant.process &&
        (one.f === "take all" || (one.f === "acquire" && one.value !== ofMany)) &&
        one.key.split("+").includes(next) &&
        one.invMs <= told.invMs,
    );
    // Of a grant among many, the wait for the others is the beginning.
    const grantedMs = grant.value === ofMany ? 0 : grant.invMs;
    fromMs = Math.max(fromMs, grantedMs, wait?.invMs ?? Infinity);
    toMs = Math.min(toMs, ending?.invMs ?? Infinity, wait?.retMs ?? Infinity);
  }
  // Its own wait has returned just before it told of the circle.
  if (fromMs <= toMs) return [];
  const message = `${told.process} was told of a circle ${String(told.value)} that never was`;
  return [{ property: "C2", key: told.key, operations: [told], message, atMs: told.invMs }];
}

/** One that its process did not end, because it died, was valid until its first lease said, at least. */
function ended(hold: Operation): Operation {
  return hold.endMs === undefined ? { ...hold, endMs: hold.validUntilMs ?? hold.invMs } : hold;
}

function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf("."));
}
