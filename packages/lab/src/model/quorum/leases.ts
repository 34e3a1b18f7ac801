/**
 * The leases of a lock over several nodes as a model, without tokens: who believes to hold, and on the word of which nodes.
 *
 * A vote is the word of a node that a lease counts on, from a grant or a renewal that the node carried out. It ends at the
 * client before the node lets the hold go, which is what clocks are for: no step here is a time, but a hold that a vote counts
 * on does not end at its node unless the terms say so. A lease is over when fewer votes than a quorum are left.
 */
import type { Emit, Field, Model, State } from "../model.js";
import { nodeName } from "./fields.js";
import { sortNodes } from "./symmetry.js";

export interface LeaseTerms {
  readonly nodes: number;
  readonly quorum: number;
  readonly attempts: number;
  /** How often a node starts again without its memory. */
  readonly restarts: number;
  /** A node that started again is silent until no lease counts on what it said before. */
  readonly quarantine: boolean;
  /** How often the clock of a node ends a hold before its time. */
  readonly jumps: number;
  /** Whether a holder gives up a seat that its lease counts on, when another attempt asks for it. */
  readonly heldYields: boolean;
}

const LeaseAction = {
  start: 0,
  grant: 1,
  yield: 2,
  hold: 3,
  renew: 4,
  return: 5,
  end: 6,
  voteEnds: 7,
  expire: 8,
  restart: 9,
  wake: 10,
  jump: 11,
} as const;

const Phase = { idle: 0, asking: 1, holding: 2, over: 3 } as const;
/** Of a node, before its seats and votes. */
const [HOLDER, SILENT, FIRST] = [0, 1, 2];

export class LeaseModel implements Model {
  readonly name = "leases";
  readonly fields: readonly Field[];
  readonly rules = ["two hold the lock at one time"];
  readonly canonical: (state: State) => void;
  readonly #terms: LeaseTerms;
  readonly #width: number;
  /** Where the phases begin; behind them how often nodes restarted, and jumped. */
  readonly #phases: number;
  readonly #restarts: number;
  readonly #jumps: number;

  constructor(terms: LeaseTerms) {
    this.#terms = terms;
    const { nodes, attempts } = terms;
    this.#width = FIRST + 2 * attempts;
    this.#phases = nodes * this.#width;
    this.#restarts = this.#phases + attempts;
    this.#jumps = this.#restarts + 1;
    this.fields = fieldsOf(nodes, attempts);
    this.canonical = (state) => sortNodes(state, nodes, this.#width);
  }

  start(_to: State, emit: Emit): void {
    emit(-1, 0, 0);
  }

  broken(state: State): number {
    let holders = 0;
    for (let attempt = 0; attempt < this.#terms.attempts; attempt++)
      if (state[this.#phases + attempt] === Phase.holding) holders += 1;
    return holders > 1 ? 1 : 0;
  }

  steps(now: State, to: State, emit: Emit): void {
    for (let attempt = 0; attempt < this.#terms.attempts; attempt++) {
      const phase = now[this.#phases + attempt];
      if (phase === Phase.idle) {
        to[this.#phases + attempt] = Phase.asking;
        emit(LeaseAction.start, attempt, 0);
        break; // which of those that have not begun is the next makes no difference
      }
      if (phase === Phase.asking) this.#ask(attempt, now, to, emit);
      else if (phase === Phase.holding) this.#hold(attempt, now, to, emit);
    }
    for (let node = 0; node < this.#terms.nodes; node++) this.#nodeSteps(node, now, to, emit);
  }

  #seat(node: number, attempt: number): number {
    return node * this.#width + FIRST + 2 * attempt;
  }

  #vote(node: number, attempt: number): number {
    return this.#seat(node, attempt) + 1;
  }

  #isHeld(node: number, attempt: number, now: State): boolean {
    const at = node * this.#width;
    return now[at + HOLDER] === attempt + 1 && now[at + SILENT] === 0;
  }

  #isFree(node: number, now: State): boolean {
    const at = node * this.#width;
    return now[at + HOLDER] === 0 && now[at + SILENT] === 0;
  }

  #votes(attempt: number, now: State, except = -1): number {
    let votes = 0;
    for (let node = 0; node < this.#terms.nodes; node++)
      if (node !== except) votes += now[this.#vote(node, attempt)] as number;
    return votes;
  }

  #ask(attempt: number, now: State, to: State, emit: Emit): void {
    let seats = 0;
    for (let node = 0; node < this.#terms.nodes; node++) {
      const seat = this.#seat(node, attempt);
      if (now[seat] === 1) {
        seats += 1;
        this.#yield(node, attempt, to, emit);
      } else if (this.#isFree(node, now)) {
        to[node * this.#width + HOLDER] = attempt + 1;
        to[seat] = 1;
        emit(LeaseAction.grant, attempt, node);
      }
    }
    this.#end(attempt, to, emit);
    if (seats < this.#terms.quorum) return;
    for (let node = 0; node < this.#terms.nodes; node++)
      to[this.#vote(node, attempt)] = now[this.#seat(node, attempt)] as number;
    to[this.#phases + attempt] = Phase.holding;
    emit(LeaseAction.hold, attempt, 0);
  }

  /** Gives a seat back; or its time is over for the client, which the node learns later. */
  #yield(node: number, attempt: number, to: State, emit: Emit): void {
    const holder = node * this.#width + HOLDER;
    to[this.#seat(node, attempt)] = 0;
    emit(LeaseAction.voteEnds, attempt, node);
    to[this.#seat(node, attempt)] = 0;
    if (to[holder] === attempt + 1) to[holder] = 0;
    emit(LeaseAction.yield, attempt, node);
  }

  #hold(attempt: number, now: State, to: State, emit: Emit): void {
    const { nodes, quorum, heldYields } = this.#terms;
    let renewed = 0;
    for (let node = 0; node < nodes; node++) {
      const isRenewed = now[this.#seat(node, attempt)] === 1 && this.#isHeld(node, attempt, now);
      if (isRenewed) renewed += 1;
    }
    for (let node = 0; node < nodes; node++) {
      const [seat, vote] = [this.#seat(node, attempt), this.#vote(node, attempt)];
      if (now[seat] === 0 && this.#isFree(node, now)) {
        to[node * this.#width + HOLDER] = attempt + 1;
        to[seat] = 1;
        emit(LeaseAction.return, attempt, node);
      }
      if (now[vote] === 1 && this.#votes(attempt, now, node) >= quorum) {
        to[vote] = 0;
        emit(LeaseAction.voteEnds, attempt, node);
      }
      if (heldYields && this.#isHeld(node, attempt, now)) {
        to[node * this.#width + HOLDER] = 0;
        to[seat] = 0;
        emit(LeaseAction.yield, attempt, node);
      }
    }
    this.#end(attempt, to, emit);
    if (renewed < quorum) return;
    for (let node = 0; node < nodes; node++) {
      const isRenewed = now[this.#seat(node, attempt)] === 1 && this.#isHeld(node, attempt, now);
      to[this.#vote(node, attempt)] = isRenewed ? 1 : 0;
      to[this.#seat(node, attempt)] = isRenewed ? 1 : 0;
    }
    emit(LeaseAction.renew, attempt, 0);
  }

  /** The lease was given back, or is over. */
  #end(attempt: number, to: State, emit: Emit): void {
    to[this.#phases + attempt] = Phase.over;
    for (let node = 0; node < this.#terms.nodes; node++) {
      to[this.#seat(node, attempt)] = 0;
      to[this.#vote(node, attempt)] = 0;
    }
    emit(LeaseAction.end, attempt, 0);
  }

  #nodeSteps(node: number, now: State, to: State, emit: Emit): void {
    const at = node * this.#width;
    const holder = now[at + HOLDER] as number;
    if (holder !== 0) {
      const counts = now[this.#vote(node, holder - 1)] === 1 || this.#isAsked(node, holder - 1, now);
      const jumps = now[this.#jumps] as number;
      if (!counts || jumps < this.#terms.jumps) {
        to[at + HOLDER] = 0;
        if (counts) to[this.#jumps] = jumps + 1;
        emit(counts ? LeaseAction.jump : LeaseAction.expire, node, 0);
      }
    }
    if (now[at + SILENT] === 1) this.#wake(node, now, to, emit);
    if ((now[this.#restarts] as number) >= this.#terms.restarts) return;
    to[this.#restarts] = (now[this.#restarts] as number) + 1;
    to[at + HOLDER] = 0;
    to[at + SILENT] = this.#terms.quarantine ? 1 : 0;
    emit(LeaseAction.restart, node, 0);
  }

  #isAsked(node: number, attempt: number, now: State): boolean {
    return now[this.#phases + attempt] === Phase.asking && now[this.#seat(node, attempt)] === 1;
  }

  /** The longest lease has passed since the node started: what it said before that counts nowhere any more. */
  #wake(node: number, now: State, to: State, emit: Emit): void {
    const { attempts, quorum } = this.#terms;
    for (let attempt = 0; attempt < attempts; attempt++) {
      const isHolding = now[this.#phases + attempt] === Phase.holding;
      if (isHolding && this.#votes(attempt, now, node) < quorum) return;
    }
    for (let attempt = 0; attempt < attempts; attempt++) {
      to[this.#seat(node, attempt)] = 0;
      to[this.#vote(node, attempt)] = 0;
    }
    to[node * this.#width + SILENT] = 0;
    emit(LeaseAction.wake, node, 0);
  }

  words(action: number, x: number, y: number, before: State): string {
    const [client, at, node] = [`client ${x + 1}`, nodeName(y), nodeName(x)];
    switch (action) {
      case LeaseAction.start:
        return `${client} begins`;
      case LeaseAction.grant:
        return `${at} grants to ${client}`;
      case LeaseAction.yield:
        return `${client} gives its seat at ${at} back`;
      case LeaseAction.hold:
        return `${client} has a quorum and holds the lock`;
      case LeaseAction.renew:
        return `${client} renews its lease`;
      case LeaseAction.return:
        return `${client} returns to ${at}`;
      case LeaseAction.end:
        return `${client} does not hold the lock any more`;
      case LeaseAction.voteEnds:
        return `${client} counts on ${at} no longer`;
      case LeaseAction.expire:
        return `the hold of client ${before[x * this.#width + HOLDER]} at ${node} ends`;
      case LeaseAction.restart:
        return `${node} restarts and has forgotten everything${this.#terms.quarantine ? ", and is silent" : ""}`;
      case LeaseAction.wake:
        return `${node} votes again`;
      default:
        return `the clock of ${node} jumps: the hold of client ${before[x * this.#width + HOLDER]} there is gone`;
    }
  }
}

function fieldsOf(nodes: number, attempts: number): Field[] {
  const fields: Field[] = [];
  for (let node = 0; node < nodes; node++) {
    const at = nodeName(node);
    fields.push({ name: `holder at ${at}`, bits: 3 }, { name: `silent ${at}`, bits: 1 });
    for (let attempt = 1; attempt <= attempts; attempt++) {
      fields.push({ name: `seat of ${attempt} at ${at}`, bits: 1 });
      fields.push({ name: `vote for ${attempt} at ${at}`, bits: 1 });
    }
  }
  for (let attempt = 1; attempt <= attempts; attempt++) fields.push({ name: `phase of ${attempt}`, bits: 2 });
  return [...fields, { name: "restarts", bits: 3 }, { name: "jumps", bits: 3 }];
}
