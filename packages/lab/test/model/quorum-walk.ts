/** A walk through the model that real nodes take as well, step by step, and what the two differ in. */
import type { State } from "../../src/model/model.js";
import { Phase, type QuorumModel } from "../../src/model/quorum/quorum.js";
import { QuorumAction } from "../../src/model/quorum/words.js";
import type { QuorumNodes } from "./quorum-nodes.js";

interface Open {
  readonly action: number;
  readonly x: number;
  readonly y: number;
  readonly state: State;
}

const { compute, confirm, issue, return: returns } = QuorumAction;
const TO_RETURNS: readonly number[] = [compute, confirm, issue, returns];

export class QuorumWalk {
  /** The steps taken, in words. */
  readonly taken: string[] = [];
  readonly #nodes: QuorumNodes;
  readonly #model: QuorumModel;
  readonly #tally: Record<string, number>;
  /** A stamp of the model is that much less. */
  readonly #base: number;
  #now: State;

  constructor(nodes: QuorumNodes, model: QuorumModel, tally: Record<string, number>) {
    this.#nodes = nodes;
    this.#model = model;
    this.#tally = tally;
    this.#base = nodes.nowUs - 1;
    this.#now = new Uint8ClampedArray(model.size);
  }

  /** Takes one of the steps that are possible. Returns how the nodes differ from the model; null: there is none. */
  step(choice: number): string[] | null {
    const open = this.#open();
    const { places, terms } = this.#model;
    // By chance alone, few walks come to a holder and a node that is free.
    const toReturns = terms.returns ? open.filter(({ action }) => TO_RETURNS.includes(action)) : [];
    const among = toReturns.length > 0 ? toReturns : open;
    const next = among[choice % Math.max(among.length, 1)];
    if (!next) return null;
    this.taken.push(this.#model.words(next.action, next.x, next.y, this.#now, next.state));
    const found = [...this.#refusals(open), ...this.#taken(), ...this.#take(next)];
    this.#now = next.state;
    for (let node = 0; node < terms.nodes; node++) {
      const known = Math.max(0, this.#nodes.known(node) - this.#base);
      const token = this.#at(places.token(node));
      if (known !== token) found.push(`node ${node} knows ${known}, the model ${token}`);
    }
    return found;
  }

  #open(): Open[] {
    const to = this.#now.slice();
    const open: Open[] = [];
    this.#model.steps(this.#now, to, (action, x, y) => {
      open.push({ action, x, y, state: to.slice() });
      to.set(this.#now);
    });
    return open;
  }

  #take({ action, x, y, state }: Open): string[] {
    const { places, terms } = this.#model;
    switch (action) {
      case QuorumAction.grant:
      case QuorumAction.late: {
        this.#count("granted");
        const expected = state[places.stamp(y)] as number;
        const isNamed = this.#at(places.holder(y)) === 0 && terms.named.includes(expected);
        const named = isNamed ? this.#base + expected : 0;
        if (isNamed) this.#count("named");
        return this.#stamped(this.#nodes.grant(y, x, { turns: terms.turns, named }), expected);
      }
      case QuorumAction.return: {
        this.#count("returned");
        const stamp = this.#nodes.grant(y, x, { turns: terms.turns, least: this.#last(x) + 1 });
        return this.#stamped(stamp, state[places.stamp(y)] as number);
      }
      case QuorumAction.confirm:
        this.#count("confirmed");
        return this.#confirm(y, x) ? [] : [`node ${y} refused to confirm to ${x}`];
      case QuorumAction.refuse:
        this.#count("anew");
        return this.#confirm(y, x) ? [`node ${y} confirmed to ${x}`] : [];
      case QuorumAction.yield:
        this.#count("anew");
        if (state[places.holder(y)] === 0) this.#nodes.forget(y);
        return [];
      case QuorumAction.forget:
        this.#nodes.forget(x);
        return [];
      default:
        return [];
    }
  }

  #stamped(stamp: number | null, expected: number): string[] {
    return stamp === this.#base + expected ? [] : [`stamped ${stamp}, the model ${this.#base + expected}`];
  }

  /** The last token of its block. */
  #last(attempt: number): number {
    const { places, terms } = this.#model;
    return this.#base + this.#at(places.tokenOf(attempt)) + terms.turns - 1;
  }

  #confirm(node: number, attempt: number): boolean {
    const stamp = this.#base + this.#at(this.#model.places.said(node, attempt)) - 1;
    return this.#nodes.confirm(node, attempt, stamp, this.#last(attempt));
  }

  #at(place: number): number {
    return this.#now[place] as number;
  }

  /** Confirmations that the model does not allow. */
  #refusals(open: readonly Open[]): string[] {
    const { places, terms } = this.#model;
    const found: string[] = [];
    for (let attempt = 0; attempt < terms.attempts; attempt++) {
      if (this.#at(places.phase(attempt)) !== Phase.confirming) continue;
      for (let node = 0; node < terms.nodes; node++) {
        const isConfirmed = this.#at(places.confirmed(node, attempt)) !== 0;
        const isAllowed = open.some(
          ({ action, x, y }) => action === QuorumAction.confirm && x === attempt && y === node,
        );
        const said = this.#at(places.said(node, attempt));
        // A node confirms to a seat that is younger than the token. That it does not count is the attempt's own rule.
        const isYounger = said - 1 > this.#at(places.tokenOf(attempt));
        if (isConfirmed || isAllowed || said === 0 || isYounger) continue;
        this.#count("refused");
        if (this.#confirm(node, attempt)) found.push(`node ${node} confirmed to ${attempt}`);
      }
    }
    return found;
  }

  /** A node that is held grants to nobody else. */
  #taken(): string[] {
    const { places, terms } = this.#model;
    const found: string[] = [];
    for (let node = 0; node < terms.nodes; node++) {
      const holder = this.#at(places.holder(node));
      if (holder === 0) continue;
      this.#count("taken");
      const other = holder % terms.attempts;
      if (this.#nodes.grant(node, other) !== null)
        found.push(`node ${node} granted to ${other} what ${holder - 1} holds`);
    }
    return found;
  }

  #count(what: string): void {
    this.#tally[what] = (this.#tally[what] ?? 0) + 1;
  }
}
