/** Signals: everybody hears `emit`, exactly one hears `emitOne`, and the emitter knows. */
import type { Heard } from "holdfast";
import type { Dice } from "../../../chance/dice.js";
import type { Node } from "../../node.js";
import { prefix } from "../scene.js";
import { type Caller, type Rounds, round, type Scene, type Work, type Workload } from "../workload.js";
import { judgePlaces, onlyInOne, readAll, twiceIn } from "./places.js";
import { otherKinds } from "./signal/others.js";

const names = ["a", "b"] as const;
/** Of `emit` only: what its readers have not read they may drop. */
const fresh = "fresh";

export const signal: Workload = {
  name: "signal",
  about: "callers emit to everybody and to one, wait for one, any and all, and listen",
  rules: {
    S1: "a listener that has begun, undisturbed, hears every later signal",
    S2: "a signal of emitOne is heard by one caller at most",
    S3: "emitOne is true when a caller heard it, and false when none did",
    S4: "no caller hears a signal twice",
    S5: "a signal that was handed over is at one seat, and in the mail",
  },
  invariants: {
    "a signal that was handed over is at one seat, and in the mail": "S5",
    "what was confirmed once is not handed over again": "S4",
  },
  canaries: [
    {
      rule: "S1",
      what: "listen does not wait for its subscription",
      seed: 22,
      change: { file: "signals/signal.ts", from: "await tellCaller(listener.begun());", to: "" },
    },
    {
      rule: "S2",
      what: "a copy of a handed signal is a second signal",
      seed: 1,
      change: {
        file: "signals/seats.ts",
        from: "const copies = fate ? null : copiesOf(name, data);",
        to: "const copies = copiesOf(name, data);",
      },
    },
    {
      rule: "S3",
      what: "emitOne is true once a process was chosen",
      seed: 1,
      change: {
        file: "signals/emissions.ts",
        from: 'if (outcome !== "handed") pending.resolve(outcome === "taken");',
        to: 'pending.resolve(outcome !== "nobody");',
      },
    },
    {
      rule: "S3",
      what: "a signal that meets nobody counts as heard",
      seed: 1,
      change: {
        file: "signals/seats.ts",
        from: "(copies && !this.#give(seat, copies))",
        to: "(copies && !this.#give(seat, copies) && id === '')",
      },
    },
    {
      rule: "S4",
      what: "a message that came before is heard again",
      seed: 13,
      change: { file: "signals/ears.ts", from: "if (this.#recent.get(once)) return;", to: "" },
    },
    {
      rule: "S5",
      what: "a signal that is passed on stays at the seat before",
      seed: 1,
      change: { file: "signals/lua/pass-on.lua", from: "if other ~= id then left", to: "if true then left" },
    },
  ],
  begin: (scene) => new SignalWork(scene),
};

/** What contradicts the places of signals: the seats and the mail of signals/lua/_seats.lua; null: nothing. */
function misplaced(node: Node, name: string): string | null {
  const all = readAll(node, [
    ["HVALS", `${prefix}:{${name}}:signal`],
    ["HKEYS", `${prefix}:{${name}}:mail`],
  ]);
  if (!all) return null;
  const [seats = [], mail = []] = all;
  const handed = seats.flatMap((seat) => seat.split(" ")[6]?.split(",").filter(Boolean) ?? []);
  const twice = twiceIn(handed);
  if (twice !== undefined) return `the signal ${twice} is at two seats`;
  const loose = onlyInOne(handed, mail);
  return loose === undefined ? null : `the signal ${loose} is at a seat or in the mail alone`;
}

/** One call of emitOne. */
interface Emission {
  readonly data: string;
  readonly invMs: number;
  outcome: boolean | null;
}

class SignalWork implements Work {
  readonly #scene: Scene;
  /** Who heard it, by the data, which is another for each signal. */
  readonly #heard = new Map<string, string[]>();
  readonly #emissions: Emission[] = [];
  #numbers = 0;
  #progress = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  join(caller: Caller) {
    if (caller.dice.chance(0.5)) void this.#read(caller);
    return {
      kinds: {
        ...this.#kinds(caller),
        ...otherKinds(caller, { names, fresh }, (who, heard) => this.#hear(who, heard)),
      },
      last: async () => {
        await caller.insist("last signal", fresh, () => this.#listenOnce(caller));
      },
    };
  }

  look(): void {
    for (const name of names) judgePlaces(this.#scene, "S5", () => misplaced(this.#scene.node, name));
  }

  judge(): void {
    for (const [data, listeners] of this.#heard) {
      if (new Set(listeners).size < listeners.length)
        this.#scene.fail("S4", `${data} was heard twice by one of ${listeners.join(", ")}`);
    }
    const endMs = this.#scene.world.nowMs;
    for (const { data, invMs, outcome } of this.#emissions) {
      const listeners = this.#heard.get(data) ?? [];
      if (listeners.length > 1)
        this.#scene.fail("S2", `emitOne reached ${listeners.join(" and ")} with ${data}`, invMs);
      if (outcome === false && listeners.length > 0)
        this.#scene.fail("S3", `emitOne said false, and ${listeners[0]} heard ${data}`, invMs);
      if (outcome === true && listeners.length === 0 && !this.#mayHaveDied(invMs, endMs))
        this.#scene.fail("S3", `emitOne said true, and nobody heard ${data}`, invMs);
    }
  }

  progress(): number {
    return this.#progress;
  }

  #mayHaveDied(fromMs: number, toMs: number): boolean {
    return [...this.#scene.deathsMs.values()].some((atMs) => fromMs <= atMs && atMs <= toMs);
  }

  #hear(caller: string, heard: Heard<string> | null): void {
    if (!heard?.data) return;
    this.#scene.mustBeOurs(heard, `what ${caller} hears`);
    this.#progress += 1;
    this.#heard.set(heard.data, [...(this.#heard.get(heard.data) ?? []), caller]);
  }

  #data(caller: Caller): string {
    this.#numbers += 1;
    return `${caller.name}:${this.#numbers}`;
  }

  /** Listens for as long as the process lives. */
  async #read(caller: Caller): Promise<void> {
    const name = caller.dice.pick(names);
    try {
      for await (const heard of caller.hf.signal<string>(name)) this.#hear(`${caller.name} listening`, heard);
    } catch {
      // Its Holdfast was closed, or could never begin: its caller finds that out by its own calls.
    }
  }

  #kinds(caller: Caller): Rounds["kinds"] {
    const { hf } = caller;
    const nameOf = (dice: Dice): string => dice.pick(names);
    const waitOf = (dice: Dice): number => dice.pick([20, 100, 400]);
    return {
      emit: round(
        async (name: string) => {
          const data = this.#data(caller);
          await caller.attempt("emit", name, () => hf.signal(name).emit(data), { details: { nonce: data } });
        },
        1,
        (dice) => [nameOf(dice)],
      ),
      one: round(
        (name: string) => this.#emitOne(caller, name),
        2,
        (dice) => [nameOf(dice)],
      ),
      wait: round(
        (name: string, waitMs: number) =>
          this.#wait(caller, { f: "wait", name, waitMs }, (wait) => hf.signal<string>(name).wait(wait)),
        2,
        (dice) => [nameOf(dice), waitOf(dice)],
      ),
      any: round(
        (waitMs: number) =>
          this.#wait(caller, { f: "any", name: names[0], waitMs }, (wait) =>
            hf.signals.any<string>(names, wait),
          ),
        1,
        (dice) => [waitOf(dice)],
      ),
      all: round(
        (waitMs: number) =>
          this.#wait(caller, { f: "all", name: fresh, waitMs }, (wait) =>
            hf.signals.all<string>([fresh, "never"], wait),
          ),
        1,
        (dice) => [waitOf(dice)],
      ),
      listen: round(() =>
        caller.attempt("listen", fresh, () => this.#listenOnce(caller), {
          withinMs: 4 * caller.plan.callTimeoutMs + 1_000,
        }),
      ),
    };
  }

  async #wait(
    caller: Caller,
    { f, name, waitMs }: { readonly f: string; readonly name: string; readonly waitMs: number },
    call: (options: { readonly wait: number }) => Promise<Heard<string> | readonly Heard<string>[] | null>,
  ): Promise<void> {
    const withinMs = waitMs + 2 * caller.plan.callTimeoutMs;
    const done = await caller.attempt(f, name, () => call({ wait: waitMs }), { withinMs, waitMs });
    if (done.type === "ok") for (const heard of [done.value ?? []].flat()) this.#hear(caller.name, heard);
  }

  async #emitOne(caller: Caller, name: string): Promise<void> {
    const emission: Emission = { data: this.#data(caller), invMs: this.#scene.world.nowMs, outcome: null };
    this.#emissions.push(emission);
    const found = (isTaken: boolean) => ({ value: isTaken ? 1 : 0 });
    const emit = () => caller.hf.signal(name).emitOne(emission.data);
    const done = await caller.attempt("emitOne", name, emit, { found, details: { nonce: emission.data } });
    if (done.type === "ok") emission.outcome = done.value;
  }

  /** Begins to listen, emits, and must hear that. */
  async #listenOnce(caller: Caller): Promise<void> {
    const data = this.#data(caller);
    const listener = await caller.hf.signal<string>(fresh).listen();
    try {
      await caller.hf.signal(fresh).emit(data);
      const sinceMs = caller.process.monoMs;
      const isCalm = this.#scene.plan.faults.length === 0;
      for (;;) {
        const heard = listener.take();
        if (heard?.data === data) break;
        if (caller.process.monoMs - sinceMs > 500) {
          if (isCalm) this.#scene.fail("S1", `${caller.name} listened, and did not hear its own ${data}`);
          return;
        }
        if (!heard) await caller.process.sleep(5);
      }
      this.#progress += 1;
    } finally {
      await listener.return();
    }
  }
}
