/** Orders: what workers change by events. Each event of an order has a number, and the storage keeps them as they came. */
import type { Operation } from "../history/operation.js";
import type { Node } from "../sim/node.js";
import type { Actor } from "./actor.js";
import { type Check, type Evidence, sharedMs } from "./check.js";
import type { Need } from "./need.js";
import type { Trial } from "./trial.js";

export interface OrderEvent {
  readonly order: string;
  /** 1 is the first of its order. */
  readonly number: number;
  readonly what: string;
  readonly takesMs: number;
  /** How many attempts fail before one succeeds. */
  readonly failures: number;
}

/** The attempt failed, as a payment provider's time-out would make it fail. */
export class Unavailable extends Error {}

export class Orders {
  readonly #node: Node;
  readonly #trial: Trial;
  readonly #attempts = new Map<OrderEvent, number>();

  constructor(trial: Trial) {
    this.#trial = trial;
    this.#node = trial.server("orders", {}, "resource");
  }

  /** @throws {Unavailable} */
  async handle(actor: Actor, event: OrderEvent): Promise<void> {
    const attempt = (this.#attempts.get(event) ?? 0) + 1;
    this.#attempts.set(event, attempt);
    const held = actor.possess({ key: event.order, token: numberOf(event) });
    await actor.sleep(event.takesMs);
    if (attempt <= event.failures) {
      held.end();
      this.#trial.count("attempts that failed");
      this.#trial.mark(actor.name, "note", `${nameOf(event)}: the payment provider does not answer`);
      throw new Unavailable(nameOf(event));
    }
    await this.#apply(actor, event);
    held.end();
  }

  async #apply(actor: Actor, event: OrderEvent): Promise<void> {
    const pending = actor.recorder.begin("apply", event.order, { token: numberOf(event) });
    const sentMs = actor.nowMs;
    await actor.ask(this.#node, ["RPUSH", event.order, event.what], { label: "" });
    pending.ok();
    const atMs = actor.drawCall(this.#node.name, sentMs, nameOf(event));
    this.#trial.count("events applied");
    const [first] = swapped(this.#trial.operations).filter(([late]) => late.token === numberOf(event));
    if (first)
      this.#trial.mark(this.#node.name, "violation", `${nameOf(event)} after event ${first[1].token}`, atMs);
  }

  /** What happened to an order, first to last. */
  story(order: string): string {
    return (this.#node.peek("LRANGE", order, "0", "-1") as string[]).join(", ");
  }
}

/** 72 is the second event of order 7. */
function numberOf({ order, number }: OrderEvent): bigint {
  return BigInt(`${order.replace(/\D/g, "")}${number}`);
}

export function nameOf({ order, what }: OrderEvent): string {
  return `${order}: ${what}`;
}

export const oneAtATime: Check = {
  title: "no two events of an order are handled at one time",
  find: (trial) =>
    [...atOnce(trial)].map(([order, ms]) => ({
      message: `two events of ${order} were handled at one time, for ${Math.round(ms)} ms`,
      atMs: 0,
    })),
};

/** For how long two events of an order were handled at once, for each order where that was so. */
export function atOnce({ operations, nowMs }: Pick<Evidence, "operations" | "nowMs">): Map<string, number> {
  const shared = [...new Set(operations.map(({ key }) => key))].map((order) => {
    const own = operations.filter(({ key }) => key === order);
    return [order, sharedMs({ operations: own, nowMs })] as const;
  });
  return new Map(shared.filter(([, ms]) => ms > 0));
}

export const inOrder: Check = {
  title: "the events of an order happen in their order",
  find: ({ operations }) =>
    swapped(operations).map(([late, early]) => ({
      message: `${late.key}: event ${early.token} happened before event ${late.token}`,
      atMs: Number(late.retMs),
    })),
};

/** Each event that came after one with a larger number of its order, with that one. */
export function swapped(operations: readonly Operation[]): [late: Operation, early: Operation][] {
  const applied = operations
    .filter(({ f, type }) => f === "apply" && type === "ok")
    .sort((a, b) => Number(a.retMs) - Number(b.retMs));
  return applied.flatMap((late, at): [Operation, Operation][] => {
    const early = applied
      .slice(0, at)
      .find(({ key, token }) => key === late.key && Number(token) > Number(late.token));
    return early ? [[late, early]] : [];
  });
}

export function applied(least: number): Need {
  return { what: "events applied", least, count: ({ counts }) => counts["events applied"] ?? 0 };
}
