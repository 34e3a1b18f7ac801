/** A walk through the model of G that real nodes take as well, step by step, and what the two differ in. */
import type { QuorumModel } from "../../src/model/quorum/quorum.js";
import { QuorumAction } from "../../src/model/quorum/words.js";
import { type QuorumNodes, scripts } from "./quorum-nodes.js";

interface Open {
  readonly action: number;
  readonly x: number;
  readonly y: number;
  readonly state: Uint8Array<ArrayBuffer>;
}

const CONFIRMING = 2;

export class QuorumWalk {
  readonly #nodes: QuorumNodes;
  readonly #model: QuorumModel;
  readonly #tally: Record<string, number>;
  /** A stamp of the model is that much less. */
  readonly #base: number;
  #now: Uint8Array<ArrayBuffer>;

  constructor(nodes: QuorumNodes, model: QuorumModel, tally: Record<string, number>) {
    this.#nodes = nodes;
    this.#model = model;
    this.#tally = tally;
    this.#base = nodes.nowUs - 1;
    this.#now = new Uint8Array(model.fields.length);
  }

  /** Takes one of the steps that are possible. Returns how the nodes differ from the model; null: there is none. */
  step(choice: number): string[] | null {
    const open = this.#open();
    // Returns are rare: few walks come to a holder and a node that is free.
    const returns = open.filter(({ action }) => action === QuorumAction.return);
    const among = returns.length > 0 ? returns : open;
    const next = among[choice % Math.max(among.length, 1)];
    if (!next) return null;
    const found = [...this.#refusals(open), ...this.#taken(), ...this.#take(next)];
    this.#now = next.state;
    for (let node = 0; node < this.#model.terms.nodes; node++) {
      const known = Math.max(0, this.#nodes.known(scripts.G, node) - this.#base);
      const token = this.#at(node, this.#model.places.token);
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
        const expected = state[y * places.width + places.mark] as number;
        const isNamed = this.#at(y, places.holder) === 0 && terms.named.includes(expected);
        const named = isNamed ? this.#base + expected : 0;
        if (isNamed) this.#count("named");
        return this.#stamped(this.#nodes.grant(scripts.G, y, x, { turns: terms.turns, named }), expected);
      }
      case QuorumAction.return: {
        this.#count("returned");
        const least = this.#last(x) + 1;
        const stamp = this.#nodes.grant(scripts.G, y, x, { turns: terms.turns, least });
        return this.#stamped(stamp, state[y * places.width + places.mark] as number);
      }
      case QuorumAction.confirm:
        this.#count("confirmed");
        return this.#confirm(y, x) ? [] : [`node ${y} refused to confirm to ${x}`];
      case QuorumAction.refuse:
        this.#count("anew");
        return this.#confirm(y, x) ? [`node ${y} confirmed to ${x}`] : [];
      case QuorumAction.yield:
        this.#count("anew");
        if (state[y * places.width + places.holder] === 0) this.#nodes.forget(scripts.G, y);
        return [];
      case QuorumAction.forget:
        this.#nodes.forget(scripts.G, x);
        return [];
      default:
        return [];
    }
  }

  #stamped(stamp: number | null, expected: number): string[] {
    return stamp === this.#base + expected ? [] : [`stamped ${stamp}, the model ${this.#base + expected}`];
  }

  #last(attempt: number): number {
    const { places, terms } = this.#model;
    return this.#base + (this.#now[places.attempts + 3 * attempt + 1] as number) + terms.turns - 1;
  }

  #confirm(node: number, attempt: number): boolean {
    const stamp = this.#base + this.#said(node, attempt) - 1;
    return this.#nodes.confirm(scripts.G, node, attempt, stamp, this.#last(attempt));
  }

  /** What its last grant there said, + 1; 0: it has none that counts. */
  #said(node: number, attempt: number): number {
    const { places } = this.#model;
    return this.#at(node, attempt * places.each + places.said);
  }

  #at(node: number, place: number): number {
    return this.#now[node * this.#model.places.width + place] as number;
  }

  /** Confirmations that the model does not allow. */
  #refusals(open: readonly Open[]): string[] {
    const { places, terms } = this.#model;
    const found: string[] = [];
    for (let attempt = 0; attempt < terms.attempts; attempt++) {
      if (this.#now[places.attempts + 3 * attempt] !== CONFIRMING) continue;
      for (let node = 0; node < terms.nodes; node++) {
        const isConfirmed = this.#at(node, attempt * places.each + places.confirmed) !== 0;
        const isAllowed = open.some(
          ({ action, x, y }) => action === QuorumAction.confirm && x === attempt && y === node,
        );
        const said = this.#said(node, attempt);
        // A node confirms to a seat that is younger than the token. That it does not count is the attempt's own rule.
        const isYounger = said - 1 > (this.#now[places.attempts + 3 * attempt + 1] as number);
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
      const holder = this.#at(node, places.holder);
      if (holder === 0) continue;
      this.#count("taken");
      if (this.#nodes.grant(scripts.G, node, holder % terms.attempts) !== null)
        found.push(`node ${node} granted to ${holder % terms.attempts} what ${holder - 1} holds`);
    }
    return found;
  }

  #count(what: string): void {
    this.#tally[what] = (this.#tally[what] ?? 0) + 1;
  }
}
