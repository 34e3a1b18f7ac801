/** LaneControl: what an operator does with the lanes of one name, and sees of them. */
import { drainAll } from "../deliveries/operations.js";
import { LANES_KEYS } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import { notAnAnswer, replyRow } from "../redis/reply.js";
import type { LaneCalls } from "./lane-calls.js";
import { script as drainScript } from "./lua/drain.lua.js";
import { script as listScript } from "./lua/list.lua.js";
import { script as peekScript } from "./lua/peek.lua.js";
import { script as redriveScript } from "./lua/redrive.lua.js";
import { script as resetScript } from "./lua/reset.lua.js";
import { script as stateScript } from "./lua/state.lua.js";
import { script as steerScript } from "./lua/steer.lua.js";

/** How much there is in all lanes of a name. */
export interface LanesState {
  /** Somebody has used them since the last reset. */
  readonly exists: boolean;
  readonly isPaused: boolean;
  /** Lanes that have a message, a pause or a limit of their own. */
  readonly lanes: number;
  /** Messages that wait, those that came back with them. */
  readonly waiting: number;
  /** Messages that came back, and wait for their time while their lanes go on. */
  readonly delayed: number;
  readonly inFlight: number;
  /** Lanes that wait for the time of a message that came back, or for their rate. */
  readonly parked: number;
  /** Lanes that somebody paused. */
  readonly paused: number;
  /** Dead letters. */
  readonly dead: number;
  /** Free places of the processes that wait for messages. */
  readonly idle: number;
  readonly processes: number;
  /** Handlers that run after their `timeout`, in all processes. A consumer that has too many takes nothing more. */
  readonly stuck: number;
}

/** One lane. A lane that does not exist has 0 of everything. */
export interface LaneState {
  readonly lane: string;
  readonly waiting: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly isPaused: boolean;
  /** Until it goes on by itself; 0: it is not parked. */
  readonly parkedMs: number;
  /** Most messages in flight; null: as the options of the lanes say. */
  readonly limit: number | null;
  /** Mean time between two deliveries; null: unknown. */
  readonly meanGapMs: number | null;
  /** Since the last delivery; null: there was none since the lane was last empty. */
  readonly sinceMs: number | null;
}

export interface LanePage {
  /** For the next call; null: these were the last. */
  readonly cursor: string | null;
  /** A lane may be on two pages where lanes come and go meanwhile. */
  readonly lanes: readonly LaneState[];
}

/** A message of a lane as it is stored. */
export interface StoredMessage {
  readonly number: number;
  readonly body: string;
}

const PAGE = 200;

export class LaneControl {
  readonly #calls: LaneCalls;

  constructor(calls: LaneCalls) {
    this.#calls = calls;
  }

  /** @param lane null: all of them */
  async pause(lane: string | null): Promise<void> {
    await this.#steer("pause", lane);
  }

  /** @param lane null: all of them. A lane that was paused by itself stays paused */
  async resume(lane: string | null): Promise<void> {
    await this.#steer("resume", lane);
  }

  /** @param inFlight null: as the options of the lanes say */
  async limit(lane: string, inFlight: number | null): Promise<void> {
    await this.#steer("limit", lane, inFlight ?? 0);
  }

  async state(): Promise<LanesState> {
    const row = replyRow(await this.#calls.run(stateScript, this.#keys(11), []), 12).map(Number);
    const [exists, paused, lanes, waiting, delayed, inFlight, parked, held, dead, idle, processes, stuck] =
      row;
    const count = (value: number | undefined): number => value ?? 0;
    return {
      exists: exists === 1,
      isPaused: paused === 1,
      lanes: count(lanes),
      waiting: count(waiting),
      delayed: count(delayed),
      inFlight: count(inFlight),
      parked: count(parked),
      paused: count(held),
      dead: count(dead),
      idle: count(idle),
      processes: count(processes),
      stuck: count(stuck),
    };
  }

  /** At most 1,000 lanes. */
  async states(lanes: readonly string[]): Promise<readonly LaneState[]> {
    const [, ...rows] = await this.#list(["", "0", ...lanes.map(encodeURIComponent)]);
    return rows.map(laneStateOf);
  }

  /** @param cursor null: begin */
  async list(cursor: string | null, count = PAGE): Promise<LanePage> {
    const [next, ...rows] = await this.#list([cursor ?? "0", String(count)]);
    return { cursor: String(next) === "0" ? null : String(next), lanes: rows.map(laneStateOf) };
  }

  /** The next messages of a lane. */
  async peek(lane: string, count: number): Promise<readonly StoredMessage[]> {
    const keys = this.#calls.keys(["about", "rec", "off", "again", "cancelled"]);
    const args = [encodeURIComponent(lane), String(count)];
    const words = replyRow(await this.#calls.run(peekScript, keys, args), 0);
    const found: StoredMessage[] = [];
    for (let at = 0; at + 1 < words.length; at += 2)
      found.push({ number: Number(words[at]), body: String(words[at + 1]) });
    return found;
  }

  /** Deletes what waits, and returns how much that was. @param lane null: all of them */
  async drain(lane: string | null): Promise<number> {
    if (lane !== null) return drainAll(() => this.#drain([lane]));
    // First those in `ready`, from its head: to take a lane out of its middle, the server looks through all before it.
    let { lanes: left } = await this.state();
    let sum = 0;
    while (left > 0) {
      const { count, lanes: drained } = await this.#drain(PAGE);
      sum += count;
      left -= drained;
      if (drained === 0) break;
    }
    for (let cursor: string | null = "0"; cursor !== null; ) {
      const page: LanePage = await this.list(cursor);
      const lanes = page.lanes.map((one) => one.lane);
      if (lanes.length > 0) sum += await drainAll(() => this.#drain(lanes));
      cursor = page.cursor;
    }
    return sum;
  }

  /** A step of Operations. */
  redriveStep(args: readonly string[]): Promise<Reply> {
    const { address, terms } = this.#calls;
    return this.#calls.run(redriveScript, this.#keys(), [...address, ...terms, ...args]);
  }

  /** Deletes everything, but for outcomes. */
  async reset(): Promise<void> {
    const args = this.#calls.address.slice(0, 2);
    while (Number(await this.#calls.run(resetScript, this.#keys(), args)) === 0);
  }

  async #steer(action: string, lane: string | null, limit = 0): Promise<void> {
    const word = lane === null ? "" : encodeURIComponent(lane);
    const { address, terms } = this.#calls;
    await this.#calls.run(steerScript, this.#keys(10), [...address, ...terms, action, word, String(limit)]);
  }

  /** @param count of the first ones */
  #keys(count?: number): string[] {
    return this.#calls.keys(LANES_KEYS.slice(0, count));
  }

  async #list(args: readonly string[]): Promise<Reply[]> {
    return replyRow(await this.#calls.run(listScript, this.#keys(2), args), 1);
  }

  async #drain(
    which: number | readonly string[],
  ): Promise<{ count: number; lanes: number; isLeft: boolean }> {
    const args = typeof which === "number" ? [String(which)] : ["0", ...which.map(encodeURIComponent)];
    const [count, lanes, left] = replyRow(await this.#calls.run(drainScript, this.#keys(9), args), 3).map(
      Number,
    );
    return { count: count ?? 0, lanes: lanes ?? 0, isLeft: left === 1 };
  }
}

function laneStateOf(reply: Reply): LaneState {
  const [lane, ...rest] = replyRow(reply, 9);
  const [waiting = 0, delayed = 0, inFlight = 0, paused, parkedMs = 0, limit = 0, meanUs = -1, sinceUs = -1] =
    rest.map(Number);
  if (typeof lane !== "string") throw notAnAnswer(reply);
  return {
    lane: decodeURIComponent(lane),
    waiting,
    delayed,
    inFlight,
    isPaused: paused === 1,
    parkedMs,
    limit: limit > 0 ? limit : null,
    meanGapMs: meanUs < 0 ? null : meanUs / 1_000,
    sinceMs: sinceUs < 0 ? null : sinceUs / 1_000,
  };
}
