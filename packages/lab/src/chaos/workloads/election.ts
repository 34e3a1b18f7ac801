/** The election: callers lead one after the other, hand over to each other, and believe that they lead for as long as they may. */
import type { Leadership } from "holdfast";
import { checkIntervals } from "../../history/intervals.js";
import type { Operation } from "../../history/operation.js";
import { checkTokens } from "../../history/tokens.js";
import type { Breach } from "../../history/violation.js";
import { monoMs } from "../time.js";
import type { Caller, Found, Rounds, Workload } from "./workload.js";

const termMs = 1_000;
const transferShare = 0.25;
const lastWaitMs = 9_000;

/** What a recipe and the library have in common. */
type Lead = Pick<Leadership, "term" | "id" | "valid" | "remainingMs" | "resign" | "transfer">;

export const election: Workload = {
  name: "election",
  canary: "a counter for each term by INCR: the first leads for the length of a term",
  join: (caller) => new Politician(caller),
  judge,
};

class Politician implements Rounds {
  readonly #caller: Caller;
  readonly #key: string;
  readonly #stand: (waitMs: number) => Promise<Lead | null>;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.#key = caller.isNaive ? "canary:boss" : "boss";
    const election = caller.hf.election<string>("boss", { term: termMs, value: caller.name });
    this.#stand = caller.isNaive ? termCounter(caller) : (wait) => election.campaign({ wait });
  }

  async round(): Promise<void> {
    const { dice } = this.#caller;
    const lead = await this.#campaign(dice.pick([0, 300, 1_500]));
    if (!lead) return;
    await this.#lead(lead, dice.between(0, dice.chance(this.#caller.isNaive ? 0.8 : 0.1) ? 2 * termMs : 60));
    if (dice.chance(transferShare) && lead.valid)
      await this.#call("transfer", () => lead.transfer(), lead.term);
    await this.#call("resign", () => lead.resign(), lead.term);
  }

  /** Once the faults are over, everybody leads in turn. */
  async last(): Promise<void> {
    const { name } = this.#caller;
    const lead = await this.#caller.insist("last campaign", this.#key, () => this.#stand(lastWaitMs));
    if (!lead) throw new Error(`${name} did not lead within ${lastWaitMs} ms of all faults`);
    await lead.resign();
  }

  async #campaign(waitMs: number): Promise<Lead | null> {
    const attempt = await this.#caller.attempt("campaign", this.#key, () => this.#stand(waitMs), {
      // It steps down before, and announces itself after.
      withinMs: waitMs + 5 * this.#caller.callTimeoutMs,
      found: (lead) => (lead ? { token: lead.term, nonce: lead.id } : {}),
    });
    return attempt.type === "ok" ? attempt.value : null;
  }

  /** Written down as long as it is seen to be valid. */
  async #lead(lead: Lead, forMs: number): Promise<void> {
    const { recorder, dice } = this.#caller;
    let validMs = monoMs();
    const validUntilMs = validMs + lead.remainingMs;
    const pending = recorder.begin("hold", this.#key, { token: lead.term, nonce: lead.id, validUntilMs });
    const untilMs = validMs + forMs;
    for (;;) {
      const lookedMs = monoMs();
      if (!lead.valid) break;
      validMs = lookedMs;
      if (lookedMs >= untilMs) break;
      await this.#caller.pause(dice.between(1, 30));
    }
    pending.ok({ endMs: validMs });
  }

  async #call(f: string, call: () => Promise<unknown>, token: bigint): Promise<void> {
    const withinMs = 6 * this.#caller.callTimeoutMs;
    await this.#caller.attempt(f, this.#key, call, { withinMs, details: { token } });
  }
}

/** Whoever increments the counter of a term first leads for the length of a term from then on. */
function termCounter({ redis, name }: Caller): (waitMs: number) => Promise<Lead | null> {
  return async () => {
    const term = Math.floor(monoMs() / termMs);
    const key = `canary:boss:${term}`;
    if ((await redis.incr(key)) !== 1) return null;
    await redis.pexpire(key, 10 * termMs);
    const endMs = monoMs() + termMs;
    let resigned = false;
    return {
      term: BigInt(term),
      id: `${name} ${term}`,
      get valid() {
        return !resigned && monoMs() < endMs;
      },
      get remainingMs() {
        return Math.max(endMs - monoMs(), 0);
      },
      async resign() {
        resigned = true;
        return "released";
      },
      transfer: async () => null,
    };
  };
}

/** Terms are unique and rise, and nobody believes to lead beside another, while the server keeps its data and its clock. */
function judge(found: Found): Breach[] {
  const deathsMs = new Map(
    found.operations.map(({ process }) => [process, found.deathsMs.get(workerOf(process)) ?? Infinity]),
  );
  return found.stretches().flatMap((kept) => {
    const elected = kept.filter(({ f, token }) => f === "campaign" && token !== undefined);
    const nonces = new Set(elected.map(({ nonce }) => nonce));
    // Who was elected before the server forgot may lead beside whoever was elected after.
    const holds = kept.filter(({ f, nonce }) => f === "hold" && nonces.has(nonce));
    return [...checkTokens(elected, { f: ["campaign"] }), ...checkIntervals(holds.map(ended), { deathsMs })];
  });
}

/** One that its process did not end, because it died, was valid until its first lease said, at least. */
function ended(hold: Operation): Operation {
  return hold.endMs === undefined ? { ...hold, endMs: hold.validUntilMs ?? hold.invMs } : hold;
}

function workerOf(process: string): string {
  return process.slice(0, process.lastIndexOf("."));
}
