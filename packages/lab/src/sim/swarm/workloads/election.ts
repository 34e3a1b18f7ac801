/** The election: callers lead one after the other, hand over, write under their term, and others observe. */
import {
  type CampaignOptions,
  type Election,
  type ElectionOptions,
  type Holdfast,
  type Leadership,
  LeaseLostError,
  type Successor,
} from "holdfast";
import type { Process } from "../../process.js";
import {
  type Caller,
  givenUp,
  type Rounds,
  round,
  type Scene,
  type Work,
  type Workload,
} from "../workload.js";
import { type Campaign, termCounter } from "./election/incr.js";
import { Observers } from "./election/observers.js";
import { type Reign, Reigns } from "./election/reigns.js";
import { holderAt, keysOf } from "./mutex/node-state.js";
import { Register } from "./mutex/register.js";

const name = "boss";
const lock = `election:${name}`;
const counter = "the term counter by INCR";
const unfenced = "leaders write without their term";
/** How soon a candidate leads when all faults are over, besides the terms of those before it. */
const settleMs = 11_000;
/** By then the signal of a leadership that is over has been looked at. */
const toldMs = 150;
/** By then an observer has looked again whatever it has heard. */
const observedMs = 8_000;
/** The share of leaders that write without a look at whether they still lead. */
const carelessShare = 0.15;
/** The share of runs in which observers are given that time. */
const patientShare = 0.3;

export const election: Workload = {
  name: "election",
  about:
    "callers campaign, lead for a moment or too long, write with their term as fence, resign or hand over, and observe",
  rules: {
    E1: "no two processes believe at the same time that they lead",
    E2: "terms rise",
    E3: "a resource refuses only leaders that were overtaken, and no update is lost",
    E4: "observers learn who leads, and that nobody does",
    E5: "while anybody campaigns, somebody leads soon after the faults",
    E6: "a transfer reaches the candidate that it names, or changes nothing",
    E7: "the signal of a leadership aborts when it is over, unless its holder has ended it",
  },
  invariants: {
    "terms rise": "E2",
    "observers learn a value together with its own term": "E4",
  },
  canaries: [
    { rule: "E1", what: counter, seed: 2, isNaive: true },
    { rule: "E2", what: "terms are counted by each process", seed: 1, holdfast: withOwnTerms },
    { rule: "E3", what: unfenced, seed: 70, isNaive: true },
    {
      rule: "E4",
      what: "observers read once",
      seed: 1,
      change: {
        file: "election/election.ts",
        from: "read: () => this.#look(),",
        to: "read: ((first) => () => (first ??= this.#look()))(undefined),",
      },
    },
    {
      rule: "E5",
      what: "a resignation is not sent",
      seed: 1,
      change: {
        file: "election/leadership.ts",
        from: "return this.#lease.release();",
        to: 'return Promise.resolve("released");',
      },
    },
    {
      rule: "E6",
      what: "a transfer goes to the first in line",
      seed: 7,
      change: {
        file: "locks/backends/redis/lua/transfer.lua",
        from: "read_waiter(keys, to)",
        to: "read_waiter(keys, redis.call('ZRANGE', line, 0, 0)[1])",
      },
    },
    {
      rule: "E7",
      what: "a signal that never aborts",
      seed: 3,
      change: {
        file: "election/leadership.ts",
        from: "return this.#controller.signal;",
        to: "return new AbortController().signal;",
      },
    },
  ],
  begin,
};

function begin(scene: Scene): Work {
  const run: Run = {
    scene,
    reigns: new Reigns(scene, lock),
    observers: new Observers(scene),
    register: new Register(scene.world, name),
    politicians: [],
    staysLong: scene.world.dice("stays").chance(patientShare),
    endsSlowly: scene.world.dice("ends").chance(patientShare),
  };
  return {
    join(caller) {
      const politician = new Politician(caller, run);
      run.politicians.push(politician);
      return politician;
    },
    look: () => run.reigns.look(),
    judge: () => run.reigns.judge(),
    left() {
      const holder = holderAt(scene.node, lock);
      if (holder) scene.fail("E5", `"${name}" is still led by ${holder.id}, which resigned`);
    },
    progress: () => run.reigns.count,
    lastMs: (observedMs + settleMs + scene.keptMs) * 2,
    // The record of a fenced value has no end.
    mayStay: (key) => key.includes("}:record:"),
    evictable: () => [
      { keys: [keysOf(lock).lock], isData: true },
      { keys: [keysOf(lock).line], isData: false },
      { keys: [keysOf(lock).waiters], isData: false },
    ],
  };
}

interface Run {
  readonly scene: Scene;
  readonly reigns: Reigns;
  readonly observers: Observers;
  readonly register: Register;
  readonly politicians: Politician[];
  /** A leader is yet to stay for long after all faults, so that observers have their time. */
  staysLong: boolean;
  /** Nobody ends before all have resigned, and observers have had their time again. */
  readonly endsSlowly: boolean;
}

class Politician implements Rounds {
  readonly #caller: Caller;
  readonly #run: Run;
  readonly #election: Election<string>;
  readonly #stand: Campaign;
  #isDone = false;
  readonly kinds: Rounds["kinds"] = {
    campaign: round(
      (waitMs: number) => this.#term(waitMs),
      1,
      (dice) => [dice.pick([0, 200, 1_000, 2_500])],
    ),
  };

  constructor(caller: Caller, run: Run) {
    this.#caller = caller;
    this.#run = run;
    const { scene, hf, plan, process } = caller;
    this.#election = hf.election<string>(name, { term: plan.ttlMs, value: caller.name });
    this.#stand =
      scene.canary === counter ? termCounter(caller) : (options) => this.#election.campaign(options);
    this.kinds = { ...this.kinds, ...this.#otherKinds() };
    if (scene.world.dice(`observes ${caller.name}`).chance(0.6))
      process.run(() => run.observers.follow(caller, this.#election));
  }

  #otherKinds(): Rounds["kinds"] {
    return {
      ask: round(() => this.#caller.attempt("leader", name, () => this.#election.leader()), 0.5),
      "give up": round(
        (afterMs: number) => this.#giveUp(afterMs),
        0.3,
        (dice) => [dice.pick([0, 1, 50, 400])],
      ),
    };
  }

  /** Stands with another value, and does not wait for long. */
  async #giveUp(afterMs: number): Promise<void> {
    const signal = this.#caller.givesUpAfter(afterMs);
    const more = { value: `${this.#caller.name} for once`, signal };
    const leadership = await this.#campaign(1_000, more);
    if (leadership) await this.#resign(this.#run.reigns.begin(this.#caller, leadership));
  }

  /** Leads if it is elected, writes, and resigns or hands over. */
  async #term(waitMs: number): Promise<void> {
    const { dice, plan } = this.#caller;
    const leadership = await this.#campaign(waitMs);
    if (!leadership) return;
    const reign = this.#run.reigns.begin(this.#caller, leadership);
    const value = dice.chance(0.6) && reign.look() ? await this.#enter(leadership) : null;
    const isLong = dice.chance(0.2);
    await this.#lead(reign, dice.between(0, isLong ? plan.ttlMs * 2 : 60));
    const isCareless = dice.chance(carelessShare);
    if (value !== null && (reign.look() || isCareless)) await this.#write(leadership, value + 1);
    reign.look();
    if (!leadership.valid) await this.#caller.process.sleep(toldMs);
    // Some lose what they have, and ask again at once.
    if (dice.chance(0.3)) await this.#transfer(reign);
    await this.#resign(reign);
  }

  async last(): Promise<void> {
    const { scene, process, name: who } = this.#caller;
    const leadership = await this.#campaign(Math.round(scene.longestTtlMs + settleMs + observedMs));
    if (this.#caller.isClosing) return;
    if (!leadership) {
      scene.fail("E5", `${who} did not lead within ${settleMs} ms of all faults and of those before it`);
      return;
    }
    const reign = this.#run.reigns.begin(this.#caller, leadership);
    if (this.#run.staysLong) {
      this.#run.staysLong = false;
      const heldUpMs = process.heldUpMs;
      await process.sleep(observedMs);
      if (leadership.valid && process.heldUpMs === heldUpMs)
        this.#run.observers.judge(leadership, observedMs);
    }
    await this.#resign(reign);
    this.#isDone = true;
    if (this.#run.endsSlowly) await this.#waitForOthers();
  }

  /** Until nobody has led for so long that every observer must know. */
  async #waitForOthers(): Promise<void> {
    const { process, scene } = this.#caller;
    const untilMs = process.nowMs + settleMs + observedMs;
    const isLeft = ({ isWorking }: Politician): boolean => isWorking;
    while (this.#run.politicians.some(isLeft) && process.nowMs < untilMs) await process.sleep(100);
    if (this.#run.politicians.some(isLeft) || this.#caller.isClosing) return;
    await process.sleep(observedMs);
    if (!this.#caller.isClosing && !scene.node.peek("EXISTS", keysOf(lock).line))
      this.#run.observers.judgeNobody(observedMs);
  }

  /** It lives, and is yet to do its last round. */
  get isWorking(): boolean {
    return !this.#isDone && !this.#caller.isClosing && this.#process.state !== "dead";
  }

  async #campaign(
    waitMs: number,
    more: Omit<CampaignOptions<string>, "wait"> = {},
  ): Promise<Leadership<string> | null> {
    const { plan } = this.#caller;
    const stand = () => this.#stand({ wait: waitMs, ...more });
    const attempt = await this.#caller.attempt("campaign", name, stand, {
      waitMs,
      reason: givenUp,
      // It steps down before, and announces itself after.
      withinMs: waitMs + 5 * plan.callTimeoutMs,
      found: (elected) => (elected ? { token: elected.term, nonce: elected.id } : {}),
    });
    return attempt.type === "ok" ? attempt.value : null;
  }

  async #lead(reign: Reign, forMs: number): Promise<void> {
    const { process } = this.#caller;
    const steps = forMs > 60 ? 5 : 2;
    for (let step = 0; step < steps; step += 1) {
      await process.sleep(forMs / steps);
      if (!reign.look() || this.#run.scene.isEnding) return;
    }
  }

  async #transfer(reign: Reign): Promise<void> {
    const { leadership } = reign;
    const { dice, plan, process, scene } = this.#caller;
    if (!leadership.valid) return;
    const line = await this.#caller.attempt("candidates", name, () => this.#election.candidates());
    if (line.type !== "ok" || line.value.length === 0 || !leadership.valid) return;
    const to = dice.pick(line.value).id;
    reign.isHandingOver = true;
    const attempt = await this.#caller.attempt<Successor | null>(
      "transfer",
      name,
      () => leadership.transfer(to),
      {
        withinMs: 6 * plan.callTimeoutMs,
        details: { token: leadership.term },
      },
    );
    reign.isHandingOver = false;
    const fail = (message: string): void => scene.fail("E6", `${this.#caller.name} ${message}`);
    const isLost = attempt.type === "fail" && attempt.error instanceof LeaseLostError;
    if (attempt.type === "ok" ? attempt.value : !isLost) reign.isGiven = true;
    if (attempt.type === "ok" && attempt.value) this.#run.reigns.handed(reign, to, attempt.value, fail);
    // It leads on, or its signal says that it does not.
    if (!reign.isGiven && !reign.look()) await process.sleep(toldMs);
  }

  async #resign(reign: Reign): Promise<void> {
    const { leadership } = reign;
    reign.end();
    await this.#caller.attempt("resign", name, () => leadership.resign(), {
      withinMs: 3 * this.#caller.plan.callTimeoutMs,
      details: { token: leadership.term },
    });
    if (leadership.valid) this.#run.scene.fail("E1", `${this.#caller.name} resigned, and still leads`);
  }

  #holder(leadership: Leadership): { readonly token: bigint; readonly nonce: string } {
    if (this.#run.scene.canary === unfenced) return { token: 1n, nonce: "anybody" };
    return { token: leadership.term, nonce: leadership.id };
  }

  async #enter(leadership: Leadership): Promise<number | null> {
    const verdict = await this.#run.register.enter(this.#process, this.#holder(leadership));
    this.#judgeRefusal(leadership, verdict);
    return verdict.isAccepted ? verdict.value : null;
  }

  async #write(leadership: Leadership, next: number): Promise<void> {
    const verdict = await this.#run.register.write(this.#process, this.#holder(leadership), next);
    this.#judgeRefusal(leadership, verdict);
    if (verdict.isAccepted && verdict.value !== next - 1)
      this.#run.scene.fail("E3", `${this.#caller.name} overwrote an update that it had not read`);
  }

  #judgeRefusal(
    { term }: Leadership,
    verdict: { readonly isAccepted: boolean; readonly seen: bigint },
  ): void {
    const { scene, reigns } = this.#run;
    if (verdict.isAccepted || verdict.seen > term || reigns.mayFall) return;
    scene.fail(
      "E3",
      `${this.#caller.name} was refused with term ${term}, where ${verdict.seen} was the last`,
    );
  }

  get #process(): Process {
    return this.#caller.process;
  }
}

/** Terms that each process counts for itself. */
function withOwnTerms(base: typeof Holdfast): typeof Holdfast {
  return class extends base {
    #terms = 0n;

    override election<Value>(of: string, options?: ElectionOptions<Value>): Election<Value> {
      const made = super.election(of, options);
      const campaign = made.campaign.bind(made);
      made.campaign = (async (terms?: CampaignOptions<Value>) => {
        const elected = await campaign(terms ?? {});
        if (!elected) return null;
        this.#terms += 1n;
        const term = this.#terms;
        return new Proxy(elected, {
          get(target, key) {
            if (key === "term") return term;
            const member: unknown = Reflect.get(target, key);
            return typeof member === "function" ? member.bind(target) : member;
          },
        });
      }) as typeof made.campaign;
      return made;
    }
  };
}
