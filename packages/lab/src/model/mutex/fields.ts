/** Where each number of the mutex model is: the server's and the clients' first, then a block for each request. */
import type { Field } from "../model.js";

/** Of the whole. Times are moments left, ages moments since. */
export const Place = {
  /** Which request holds, + 1, for how long yet, and by which token. */
  holder: 0,
  left: 1,
  holderToken: 2,
  /** The largest token handed out. */
  top: 3,
  flag: 4,
  /** How much may still go wrong. */
  faults: 5,
  /** A rule that a step broke, where the state alone does not show it. */
  broke: 6,
  clients: 7,
} as const;

/** Of one request, from `blockOf` on. */
export const Of = {
  phase: 0,
  /** Issued to its caller, and the largest one issued before it began. */
  token: 1,
  before: 2,
  /** Of its lease, as its process counts. */
  left: 3,
  /** A call on its way, its age, and its answer once the server has run it. */
  call: 4,
  age: 5,
  answer: 6,
  answerToken: 7,
  /** A copy of an earlier call, whose answer nobody will hear. */
  copy: 8,
  copyAge: 9,
  /** A copy of it may be on the way: its release must ban it. */
  owed: 10,
  /** Its process believes that it stands in line. */
  stands: 11,
  /** A grant message on its way: its token, or 0, and the age of the sign of life that it names. */
  message: 12,
  messageAge: 13,
  /** In line at the server, from 1; the age of its last sign of life, from when it was sent and when it came. */
  place: 14,
  beatAge: 15,
  seenAge: 16,
  /** How much longer the server refuses it. */
  ban: 17,
} as const;

const BLOCK = 18;
const TOKEN_BITS = 5;
const blockBits = [3, TOKEN_BITS, TOKEN_BITS, 2, 3, 2, 3, TOKEN_BITS, 3, 2, 1, 1, TOKEN_BITS, 2, 3, 2, 2, 2];
/** Within a block, what is a token. */
const blockTokens = [Of.token, Of.before, Of.answerToken, Of.message] as const;

export const Phase = { idle: 0, wanting: 1, holding: 2, ending: 3, over: 4 } as const;
export const Call = { none: 0, take: 1, ask: 2, stand: 3, beat: 4, renew: 5, release: 6, ban: 7 } as const;
export const Answer = { none: 0, granted: 1, busy: 2, inLine: 3, unknown: 4, done: 5, lost: 6 } as const;

/** Rules that steps break, rather than states: what `broke` says. */
export const Broke = { overtaken: 1, renewedAnother: 2, revived: 3 } as const;

export function isRelease(call: number): boolean {
  return call >= Call.release;
}

/** Bits of a client's field. */
export const ALIVE = 1;
export const LISTENS = 2;

export class MutexPlaces {
  readonly clients: number;
  readonly requests: number;
  readonly owners: readonly number[];
  readonly fields: readonly Field[];
  /** Which fields are tokens. */
  readonly tokens: Uint8Array;
  readonly #blocks: Uint8Array;

  constructor(acquires: readonly number[]) {
    this.clients = acquires.length;
    this.owners = acquires.flatMap((count, client) => Array.from({ length: count }, () => client));
    this.requests = this.owners.length;
    const whole = ["holder", "left", "token of the holder", "top", "flag", "faults", "broke"];
    const bits = [3, 2, TOKEN_BITS, TOKEN_BITS, 1, 3, 2];
    const fields: Field[] = whole.map((name, at) => ({ name, bits: bits[at] as number }));
    for (let client = 0; client < this.clients; client++) fields.push({ name: `client ${client}`, bits: 2 });
    for (let request = 0; request < this.requests; request++) {
      for (const [name, at] of Object.entries(Of)) {
        fields.push({ name: `${name} of request ${request}`, bits: blockBits[at] as number });
      }
    }
    this.fields = fields;
    const blocks = this.owners.map((_, request) => Place.clients + this.clients + request * BLOCK);
    this.#blocks = Uint8Array.from(blocks);
    const inBlocks = blocks.flatMap((at) => blockTokens.map((of) => at + of));
    this.tokens = Uint8Array.from([Place.top, Place.holderToken, ...inBlocks]);
  }

  blockOf(request: number): number {
    return this.#blocks[request] as number;
  }

  /** The field of the client whose request it is. */
  clientOf(request: number): number {
    return Place.clients + (this.owners[request] as number);
  }
}
