/** What the node says of lanes, past every fault. */
import type { Node } from "../../../node.js";
import { prefix } from "../../scene.js";

export class LanesView {
  /** "holdfast:{orders}:lanes" */
  readonly main: string;
  readonly #node: Node;

  constructor(node: Node, name: string) {
    this.#node = node;
    this.main = `${prefix}:{${name}}:lanes`;
  }

  /** The newest number that was given out. Numbers and tokens are one sequence. */
  get last(): number | undefined {
    const last = Number(this.#node.peek("HGET", this.main, "last"));
    return Number.isNaN(last) || last === 0 ? undefined : last;
  }

  get isPaused(): boolean {
    const paused = this.#node.peek("HEXISTS", this.main, "paused");
    return Number(paused) === 1 || Number(this.#node.peek("SCARD", `${this.main}:held`) ?? 0) > 0;
  }

  /** Lanes whose turn it is. */
  get ready(): number {
    return Number(this.#node.peek("LLEN", `${this.main}:ready`) ?? 0);
  }

  /** The ids of the processes with free places. */
  get idle(): string[] {
    return this.#texts("ZRANGE", `${this.main}:idle`, "0", "-1");
  }

  /** Deliveries by lane. */
  inFlight(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const name of this.#texts("ZRANGE", `${this.main}:away`, "0", "-1")) {
      const [, lane] = /^\d+:\d+:\d+:[^:]+:(.*)$/.exec(name) ?? [];
      if (lane !== undefined) counts.set(lane, (counts.get(lane) ?? 0) + 1);
    }
    return counts;
  }

  /** When the first delivery, delayed message or parked lane is due; null: there is none. */
  get dueMs(): number | null {
    const scores = ["away", "later"].flatMap((key) => {
      const [, score] = this.#texts("ZRANGE", `${this.main}:${key}`, "0", "0", "WITHSCORES");
      return score === undefined ? [] : [Number(score)];
    });
    return scores.length === 0 ? null : Math.min(...scores);
  }

  /** The clock of the lanes: where the server's was set back, it goes on. */
  get nowMs(): number {
    const [seconds = "0", us = "0"] = this.#texts("TIME");
    const skewUs = Number(this.#node.peek("HGET", this.main, "skew") ?? 0);
    return Number(seconds) * 1_000 + (Number(us) + skewUs) / 1_000;
  }

  /** Names of lanes that have a record or a list. */
  lanes(): string[] {
    return [...new Set([...this.#texts("HKEYS", `${this.main}:rec`), ...this.lists()])];
  }

  /** Names of lanes that have a list. */
  lists(): string[] {
    const stem = `${this.main}:lane:`;
    const keys = this.#texts("KEYS", `${prefix}:*`).filter((key) => key.startsWith(stem));
    return keys.map((key) => key.slice(stem.length));
  }

  /** The tickets of all messages that wait or are in flight. */
  tickets(): string[] {
    const tickets: string[] = [];
    for (const lane of this.lanes()) {
      const record = String(this.#node.peek("HGET", `${this.main}:rec`, lane) ?? "");
      const next = Number(record.split(" ", 1)[0]);
      const length = Number(this.#node.peek("LLEN", `${this.main}:lane:${lane}`) ?? 0);
      for (let place = 0; place < length; place++) tickets.push(`${(next + place).toFixed(0)}@${lane}`);
    }
    for (const field of this.#texts("HKEYS", `${this.main}:off`)) {
      const [, number, lane] = /^(?:\d+:(?=\d+:\d+:)|back:)(\d+):(?:\d+:[^:]+:)?(.*)$/.exec(field) ?? [];
      if (number !== undefined) tickets.push(`${number}@${lane}`);
    }
    return tickets;
  }

  #texts(...words: string[]): string[] {
    const found = this.#node.peek(...words);
    return Array.isArray(found) ? found.map(String) : [];
  }
}
