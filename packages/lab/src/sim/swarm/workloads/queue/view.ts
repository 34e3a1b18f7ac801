/** What the node says of a queue, past every fault. */
import type { Node } from "../../../node.js";
import { prefix } from "../../scene.js";

/** A delivery, or a message that waits for its time: when it comes back. */
export interface Away {
  readonly name: string;
  readonly atMs: number;
}

export class QueueView {
  /** "holdfast:{jobs}:queue" */
  readonly main: string;
  readonly #node: Node;

  constructor(node: Node, queue: string) {
    this.#node = node;
    this.main = `${prefix}:{${queue}}:queue`;
  }

  /** The newest number that was given out. Numbers and tokens are one sequence. */
  get last(): number | undefined {
    const last = Number(this.#node.peek("HGET", this.main, "last"));
    return Number.isNaN(last) || last === 0 ? undefined : last;
  }

  get isPaused(): boolean {
    return Number(this.#node.peek("HEXISTS", this.main, "paused")) === 1;
  }

  /** Messages that a take would get now. */
  get deliverable(): number {
    const [line, again] = this.#node.peekAll(["LLEN", `${this.main}:line`], ["ZCARD", `${this.main}:again`]);
    return Number(line ?? 0) / 2 + Number(again ?? 0);
  }

  /** The ids of the processes with free places. */
  get idle(): string[] {
    return this.#texts("ZRANGE", `${this.main}:idle`, "0", "-1");
  }

  /** What comes back, in no order. */
  away(): Away[] {
    return [...this.deliveries(), ...this.#scored("later")];
  }

  /** By their handles. */
  deliveries(): Away[] {
    return this.#scored("away");
  }

  /** The handles of the suspects that processes have. */
  suspects(): string[] {
    const text = String(this.#node.peek("HGET", this.main, "suspects") ?? "");
    const handles = text.split(" ").filter((word) => /^\d+:/.test(word));
    if (handles.length === 0) return [];
    const out = new Set(this.deliveries().map(({ name }) => name));
    return handles.filter((handle) => out.has(handle));
  }

  /** The ids of all messages that are waiting, delayed or delivered. */
  ids(): string[] {
    const line = this.#texts("LRANGE", `${this.main}:line`, "0", "-1").filter((_, place) => place % 2 === 0);
    // A handle, or "later:<number>:<attempts>", or "back:<number>:<attempts>".
    const off = this.#texts("HKEYS", `${this.main}:off`).map((field) => field.split(":")[1] ?? field);
    return [...line, ...off];
  }

  /** The clock of the queue: where the server's was set back, it goes on. */
  get nowMs(): number {
    const [seconds = "0", us = "0"] = this.#texts("TIME");
    const skewUs = Number(this.#node.peek("HGET", this.main, "skew") ?? 0);
    return Number(seconds) * 1_000 + (Number(us) + skewUs) / 1_000;
  }

  #scored(key: string): Away[] {
    const flat = this.#texts("ZRANGE", `${this.main}:${key}`, "0", "-1", "WITHSCORES");
    return flat.flatMap((name, place) => (place % 2 === 0 ? [{ name, atMs: Number(flat[place + 1]) }] : []));
  }

  #texts(...words: string[]): string[] {
    const found = this.#node.peek(...words);
    return Array.isArray(found) ? found.map(String) : [];
  }
}
