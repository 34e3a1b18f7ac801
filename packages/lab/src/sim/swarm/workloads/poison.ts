/** Poison: a message that ends every process which deals with it. After three ends it is a dead letter, and no other message is one by them. */
import type { Delivery } from "holdfast";
import type { Dead } from "../../../history/messages.js";
import type { Operation } from "../../../history/operation.js";
import { die, poison } from "../faults/process.js";
import type { Fault } from "../plan.js";
import { planned, type Scene } from "../scene.js";
import type { Caller } from "../workload.js";

export const endsRule = "a message that ends its process does so three times, and takes no other with it";

/** What a program does whose process has ended. */
export function ended(): Promise<never> {
  return new Promise(() => {});
}

/** As the guide says. */
const mostEnds = 3;
const backMs = 200;

type Dealt = Pick<Delivery, "id" | "attempt" | "isLive">;

export class Poison {
  readonly #scene: Scene;
  /** In whose time a message becomes poison; undefined: the plan has none. */
  readonly #fault: Fault | undefined;
  /** Of the message; null: none is yet. */
  #id: string | null = null;
  #ends = 0;
  /** How many of these ends were failed attempts to the server: a deadline passed before anybody looked for the process. */
  #failed = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#fault = scene.plan.faults.find(({ kind }) => kind === poison.kind);
  }

  /** Whether a program's process has ended as it dealt with this message: then that goes on as `ended`. */
  strikes({ id, attempt, isLive }: Dealt, { process }: Caller): boolean {
    const { world, lives } = this.#scene;
    const fault = this.#fault;
    // Of one that is over, because it was given back for instance, nobody knows that it ended the process.
    if (!fault || !isLive || world.nowMs < fault.atMs || world.nowMs > fault.atMs + fault.forMs) return false;
    const life = lives.get(planned(process.name));
    this.#id ??= id;
    if (this.#id !== id || life?.process !== process) return false;
    this.#ends += 1;
    this.#failed = attempt - 1;
    this.#scene.struck(fault);
    world.at(world.nowMs + backMs, die(this.#scene, life, "crash"));
    return true;
  }

  /** @param operations those of a history of messages.ts */
  judge(rule: string, operations: readonly Operation[]): void {
    if (this.#ends === 0) return;
    // A message that a redrive brings back may end three processes more.
    if (this.#ends > mostEnds + this.#failed && !operations.some(({ f }) => f === "redrive"))
      this.#scene.fail(rule, `message ${this.#id} has ended ${this.#ends} processes`);
    for (const { id, reason } of lettersIn(operations))
      if (id !== this.#id && reason.startsWith("its process ended"))
        this.#scene.fail(rule, `message ${id} is dead, and only ${this.#id} has ended processes: ${reason}`);
  }
}

function lettersIn(operations: readonly Operation[]): Dead["letters"] {
  return operations.flatMap(({ f, value }) => (f === "dead" ? (value as Dead).letters : []));
}
