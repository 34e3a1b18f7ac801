/**
 * Random walks over all scripts of lanes, step by step beside the model: order in each lane, no more in flight than allowed, exact
 * places, nobody idle beside a message, nothing lost, and no key left in the end. HOLDFAST_LANE_SEEDS=500 for a long run,
 * HOLDFAST_LANE_SEED=7 for one.
 */
import { beforeAll, expect, test } from "vitest";
import { parseHandle } from "../../src/deliveries/handle.js";
import { parseTicket } from "../../src/lanes/ticket.js";
import { Dice } from "../limits/engine.js";
import { LaneLab, type LaneProcess } from "./lane-lab.js";
import { LaneModel, type ModelSettings } from "./lane-model.js";

const SEEDS = Number(process.env.HOLDFAST_LANE_SEEDS ?? 8);
const ONE = process.env.HOLDFAST_LANE_SEED;
const STEPS = 150;
const NAME = "n";
const LANES = ["a", "b", "c d", "{e}:é", "😀"];

let lab: LaneLab;

beforeAll(async () => {
  lab = await LaneLab.start();
});

const seeds = ONE ? [Number(ONE)] : Array.from({ length: SEEDS }, (_, seed) => seed + 1);
test.each(seeds)("walk %i", async (seed) => {
  lab.command("FLUSHALL");
  await new Walk(new Dice(seed)).run();
});

interface Held {
  readonly process: LaneProcess;
  readonly handle: string;
  readonly lane: string;
  readonly number: number;
}

class Walk {
  readonly #dice: Dice;
  readonly #model: LaneModel;
  readonly #processes: LaneProcess[];
  /** Deliveries that are not over, as far as this test knows. */
  #held: Held[] = [];
  #pushed = 0;
  readonly #settings: ModelSettings;
  readonly #dead = new Set<LaneProcess>();

  constructor(dice: Dice) {
    this.#dice = dice;
    this.#settings = {
      inFlight: dice.pick([1, 1, 1, 2, 3]),
      whenFailed: dice.pick(["park", "park", "skip", "dead-letter"] as const),
      maxAttempts: dice.pick([2, 5, Number.POSITIVE_INFINITY]),
    };
    this.#model = new LaneModel(this.#settings);
    this.#processes = ["p", "q", "r"].map((id) => this.#open(id));
  }

  #open(id: string): LaneProcess {
    return lab.open(`${id}${this.#dice.whole(0, 1e9)}`, NAME, this.#settings);
  }

  async run(): Promise<void> {
    for (let step = 0; step < STEPS; step++) {
      await this.#step();
      await this.#check();
    }
    await this.#empty();
  }

  get #nowMs(): number {
    return Math.floor(lab.trueUs / 1_000);
  }

  get #process(): LaneProcess {
    return this.#dice.pick(this.#processes);
  }

  async #step(): Promise<void> {
    const luck = this.#dice.fraction();
    if (luck < 0.25) await this.#push();
    else if (luck < 0.55) await this.#take();
    else if (luck < 0.7) await this.#back();
    else if (luck < 0.8) await this.#cancel();
    else if (luck < 0.83) await this.#steer();
    else if (luck < 0.84) await this.#drain();
    else if (luck < 0.85) await this.#redrive();
    else if (luck < 0.86) await this.#die();
    else if (luck < 0.88) await this.#look();
    else if (luck < 0.97) lab.pass(this.#dice.pick([0.001, 1, 20, 300]));
    else await this.#expire();
  }

  async #push(): Promise<void> {
    const count = this.#dice.whole(1, 5);
    const pushes = Array.from({ length: count }, () => {
      this.#pushed += 1;
      return [this.#dice.pick(LANES), `j"${this.#pushed} é"`] as const;
    });
    const numbers = await this.#process.push(...pushes);
    for (const [place, [lane, body]] of pushes.entries()) this.#model.push(lane, numbers[place] ?? 0, body);
    this.#receive();
  }

  async #take(): Promise<void> {
    const process = this.#process;
    const own = this.#held.filter((held) => held.process === process);
    const acked = own.filter(() => this.#dice.fraction() < 0.7);
    const handles = acked.map(({ handle }) => handle);
    const seq = process.seq + 1;
    const want = this.#dice.whole(0, 4);
    const acks = handles.map((handle) => ({ handle, result: this.#dice.pick([undefined, "j1"]) }));
    process.seq = seq;
    const { late, given } = await process.scripts.take({ seq, acks, want });
    expect(late).toEqual([]);
    for (const { lane, number } of acked) this.#model.ack(lane, number);
    this.#forget(handles);
    this.#overdue();
    this.#receive(given.map((one) => ({ ...one, process })));
    if (this.#dice.fraction() < 0.2) {
      const copy = await process.scripts.take({ seq, acks, want });
      expect({ late: copy.late, given: copy.given }).toEqual({ late: [], given: [] });
    }
    if (acks.length > 0)
      expect([...(await process.ack(...handles))].sort(), "a second ack is late").toEqual(handles.sort());
    this.#overdue();
    this.#receive();
  }

  async #back(): Promise<void> {
    if (this.#held.length === 0) return;
    const { process, handle, lane, number } = this.#dice.pick(this.#held);
    const isAttempt = this.#dice.fraction() < 0.8;
    const delayMs = this.#dice.pick([0, 0, 50, 400]);
    expect(await process.back(handle, { delayMs, isAttempt, reason: "it failed" })).toEqual([]);
    this.#forget([handle]);
    this.#model.back(lane, number, this.#nowMs, { delayMs, isAttempt, isFailure: true });
    if (this.#model.find(lane, number).state === "dead") {
      const outcome = lab.command(
        "GET",
        process.scripts.calls.outcomeKey(`${number}@${encodeURIComponent(lane)}`),
      );
      expect(outcome).toMatch(/^dead \d+ it failed$/);
    }
    this.#receive();
  }

  async #cancel(): Promise<void> {
    const all = [...this.#model.lanes.values()].flatMap(({ messages }) => messages);
    if (all.length === 0) return;
    const { lane, number, state } = this.#dice.pick(all);
    const isCancelled = await this.#process.scripts.cancel({ lane, number });
    expect(isCancelled, `cancel of ${state}`).toBe(this.#model.cancel(lane, number));
    this.#receive();
  }

  async #steer(): Promise<void> {
    const { control } = this.#process;
    const lane = this.#dice.pick([null, ...LANES]);
    const isPause = this.#dice.fraction() < 0.4;
    if (lane !== null && this.#dice.fraction() < 0.4) {
      const limit = this.#dice.pick([null, 1, 2, 4]);
      await control.limit(lane, limit);
      this.#model.lane(lane).limit = limit;
    } else {
      await (isPause ? control.pause(lane) : control.resume(lane));
      if (lane === null) this.#model.isPaused = isPause;
      else this.#model.lane(lane).isPaused = isPause;
    }
    this.#receive();
  }

  async #drain(): Promise<void> {
    const lane = this.#dice.pick(LANES);
    expect(await this.#process.control.drain(lane)).toBe(this.#model.drain(lane));
  }

  async #redrive(): Promise<void> {
    lab.pass(1);
    expect(await this.#process.operations.redrive(null)).toBe(this.#model.redrive());
    this.#receive();
  }

  async #look(): Promise<void> {
    await this.#process.scripts.look(0);
    this.#overdue();
    this.#receive();
  }

  /** Another process is in its place; what it had comes back after two looks. */
  async #die(): Promise<void> {
    const place = this.#dice.whole(0, this.#processes.length - 1);
    const gone = this.#processes[place] as LaneProcess;
    gone.die();
    this.#dead.add(gone);
    this.#processes[place] = this.#open("n");
    lab.pass(800);
    await this.#look();
    lab.pass(3_100);
    await this.#look();
    expect(this.#held.filter(({ process }) => process === gone)).toEqual([]);
  }

  /** Every delivery that is out now expires. */
  async #expire(): Promise<void> {
    lab.pass(3_100);
    const process = this.#process;
    for (let turn = 0; turn < 4; turn++) {
      const given = await process.take(1);
      this.#overdue();
      this.#receive(given.map((one) => ({ ...one, process })));
    }
  }

  #forget(handles: readonly string[]): void {
    this.#held = this.#held.filter(({ handle }) => !handles.includes(handle));
  }

  /** Deliveries that a script ended because their time was over. */
  #overdue(): void {
    const away = new Set(lab.command("ZRANGE", "t:{n}:lanes:away", "0", "-1") as string[]);
    for (const { process, handle, lane, number } of this.#held.filter((held) => !away.has(held.handle))) {
      const { deadlineMs } = this.#model.find(lane, number);
      if (!this.#dead.has(process)) expect(deadlineMs).toBeLessThanOrEqual(this.#nowMs);
      // Nobody has extended it: no handler may have seen it.
      this.#model.back(lane, number, this.#nowMs, { delayMs: 0, isAttempt: false, isFailure: false });
      this.#forget([handle]);
    }
  }

  /** What was given by a take, and what came as gifts, in the order of the tokens. */
  #receive(given: readonly { process: LaneProcess; handle: string; body: string }[] = []): void {
    const gifts = this.#processes.flatMap((process) =>
      process.gifts.splice(0).flatMap((gift) => (gift ? [{ ...gift, process }] : [])),
    );
    const all = [...given, ...gifts].sort((a, b) => (a.handle < b.handle ? -1 : 1));
    for (const { process, handle, body } of all) {
      const parsed = parseHandle(handle);
      if (!parsed) throw new Error(handle);
      const { lane, number } = parseTicket(parsed.id);
      this.#model.deliver(lane, number, parsed.attempt, Number(parsed.token), body, this.#nowMs);
      this.#held.push({ process, handle, lane, number });
    }
  }

  async #check(): Promise<void> {
    this.#released();
    this.#ready();
    await this.#places();
    await this.#state();
    const idle = Number(lab.command("ZCARD", "t:{n}:lanes:idle"));
    const due = Number(lab.command("ZCOUNT", "t:{n}:lanes:later", "-inf", this.#nowMs));
    if (idle === 0 || due > 0) return;
    for (const lane of LANES)
      expect(this.#model.next(lane, this.#nowMs), `nobody is idle beside ${lane}`).toBeNull();
  }

  /** Messages that came back, and whose time has come, as a script has seen. */
  #released(): void {
    for (const member of lab.command("ZRANGE", "t:{n}:lanes:again", "0", "-1") as string[]) {
      const [kind, lane = "", number] = member.split(" ");
      const message = this.#model.find(decodeURIComponent(lane), Number(number));
      if (kind === "r" && message.state === "later") {
        expect(message.dueMs).toBeLessThanOrEqual(this.#nowMs);
        message.state = "waiting";
      }
      expect(message.state).toBe(kind === "r" ? "waiting" : "later");
    }
  }

  #ready(): void {
    const ready = lab.command("LRANGE", "t:{n}:lanes:ready", "0", "-1") as string[];
    const rows = lab.command("HGETALL", "t:{n}:lanes:rec") as string[];
    const said = rows.flatMap((lane, place) =>
      place % 2 === 0 && rows[place + 1]?.split(" ")[2] === "R" ? [lane] : [],
    );
    expect([...ready].sort(), "each ready lane is in the list once").toEqual(said.sort());
  }

  async #places(): Promise<void> {
    const all = [...this.#model.lanes.values()].flatMap(({ messages }) => messages).slice(-60);
    const places = await this.#process.scripts.places(all);
    for (const [at, message] of all.entries()) {
      const { state, position, ahead } = places[at] ?? { state: "", position: -1, ahead: -1 };
      const expected = this.#model.place(message.lane, message.number);
      // A cancelled message is forgotten when its turn comes, but for its outcome.
      const isGone = expected.state === "cancelled" && state === "over";
      if (isGone) expect(places[at]?.outcome).toBe("cancelled");
      else expect({ state, position, ahead }, `${message.lane} ${message.number}`).toEqual(expected);
      if (state === "waiting" && !message.wasOut) {
        expect(ahead, "fewer and fewer are ahead").toBeLessThanOrEqual(message.ahead);
        message.ahead = ahead;
      }
    }
  }

  async #state(): Promise<void> {
    const state = await this.#process.control.state();
    const model = this.#model;
    expect(state).toMatchObject({
      isPaused: model.isPaused,
      waiting: model.count("waiting"),
      delayed: model.count("later"),
      inFlight: model.count("out"),
      dead: model.count("dead"),
    });
    const rows = await this.#process.control.states(LANES);
    for (const row of rows) {
      const { messages, isPaused, limit } = model.lane(row.lane);
      const count = (wanted: string): number => messages.filter((one) => one.state === wanted).length;
      expect(row).toMatchObject({
        waiting: count("waiting"),
        delayed: count("later"),
        inFlight: count("out"),
        isPaused,
        limit,
      });
    }
  }

  /** Everything is consumed; then no key is left but what the lanes remember of themselves. */
  async #empty(): Promise<void> {
    const [process] = this.#processes as [LaneProcess];
    await process.control.resume(null);
    this.#model.isPaused = false;
    this.#receive();
    for (const lane of LANES) {
      await process.control.resume(lane);
      this.#model.lane(lane).isPaused = false;
      this.#receive();
      await process.control.limit(lane, null);
      this.#model.lane(lane).limit = null;
      this.#receive();
    }
    while (this.#model.count("waiting") + this.#model.count("later") + this.#model.count("out") > 0) {
      lab.pass(500);
      for (const one of this.#processes) {
        const own = this.#held.filter((held) => held.process === one);
        const given = await one.take(
          8,
          own.map(({ handle }) => handle),
        );
        for (const { lane, number } of own) this.#model.ack(lane, number);
        this.#forget(own.map(({ handle }) => handle));
        this.#overdue();
        this.#receive(given.map((each) => ({ ...each, process: one })));
        this.#released();
      }
    }
    for (const one of this.#processes) await one.take(0);
    lab.pass(70_000);
    await process.take(0);
    const dead = this.#model.count("dead") > 0 ? ["t:{n}:lanes:dead", "t:{n}:lanes:letters"] : [];
    expect(lab.keys()).toEqual(["t:{n}:lanes", ...dead]);
  }
}
