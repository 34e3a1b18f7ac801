/** Verdicts: what the server says of a claim that waits in line, asks by itself, or adopts. */
import { type HoldfastError, isRefusal, type Owner } from "../../../errors.js";
import type { Reply, ReplyListener } from "../../../redis/port.js";
import { type AnswerListener, replyRow, tell } from "../../../redis/reply.js";
import type { Adoption } from "../../backend.js";
import { type HolderRecord, parseLock, toOwner } from "./lock-state.js";

/** A holder, and the highest token that the server has handed out or reserved. */
export interface SeenHolder extends HolderRecord {
  readonly top: bigint;
}

/** Who holds the name, as the server told it. */
interface Held {
  readonly leftMs: number;
  readonly owner: Owner | null;
  /** The record itself, for a lock that has one holder at most. */
  readonly holder?: SeenHolder | null;
}

export type Verdict =
  | { readonly kind: "granted"; readonly token: bigint }
  | ({ readonly kind: "busy" } & Held)
  | ({ readonly kind: "in-line" } & Required<Held> & {
        readonly ahead: number;
        readonly ticket: string;
      })
  /** The server has no record of the claim: it was given up, or the server lost it. */
  | { readonly kind: "unknown-id" };

/** What became of an adoption, as the server told it. */
export type AdoptAnswer =
  | { readonly outcome: "adopted"; readonly token: bigint; readonly permits: number | undefined }
  | Exclude<Adoption, { readonly outcome: "adopted" }>;

/** The answer to one copy of a claim, which counts no more. */
export class VerdictAnswer implements ReplyListener {
  readonly #copy: { readonly claim: { readonly id: string }; unanswered: number };
  readonly #listener: AnswerListener<Verdict>;

  constructor(
    copy: { readonly claim: { readonly id: string }; unanswered: number },
    listener: AnswerListener<Verdict>,
  ) {
    this.#copy = copy;
    this.#listener = listener;
  }

  replied(reply: Reply): void {
    this.#copy.unanswered -= 1;
    tell(this.#listener, reply, (each) => parseVerdict(each, this.#copy.claim.id));
  }

  failed(error: HoldfastError): void {
    if (isRefusal(error)) this.#copy.unanswered -= 1;
    this.#listener.failed(error);
  }
}

/** Every answer to a wait names a holder, and few callers read it: the record is parsed when one does. */
class InLine {
  readonly kind = "in-line";
  readonly leftMs: number;
  readonly ahead: number;
  readonly ticket: string;
  readonly #holder: Reply | undefined;

  constructor([leftMs, holder, ahead, ticket]: readonly Reply[]) {
    this.leftMs = Number(leftMs);
    this.#holder = holder;
    this.ahead = Number(ahead);
    this.ticket = String(ticket);
  }

  get owner(): Owner | null {
    return holderIn(this.#holder).owner;
  }

  get holder(): SeenHolder | null {
    return holderIn(this.#holder).holder ?? null;
  }
}

/** @throws {IndeterminateError} an answer of another shape, or to another claim than `id` */
export function parseVerdict(reply: Reply | undefined, id: string): Verdict {
  const [status, ...rest] = replyRow(reply);
  switch (Number(status)) {
    case 1:
      if (rest[1] !== id) replyRow(undefined); // throws
      return { kind: "granted", token: BigInt(String(rest[0])) };
    case 0:
      return { kind: "busy", leftMs: Number(rest[0]), ...holderIn(rest[1]) };
    case 2:
      return new InLine(rest);
    default:
      return { kind: "unknown-id" };
  }
}

/** @throws {IndeterminateError} an answer of another shape, or to another claim than `id` */
export function parseAdoption(reply: Reply, id: string): AdoptAnswer {
  const [status, token, adopter, permits] = replyRow(reply);
  if (Number(status) !== 1) return { outcome: Number(status) === 0 ? "absent" : "taken" };
  if (adopter !== id) replyRow(undefined); // throws
  const held = permits === undefined ? undefined : Number(permits);
  return { outcome: "adopted", token: BigInt(String(token)), permits: held };
}

export function holderIn(state: Reply | undefined): Pick<Held, "owner" | "holder"> {
  const record = parseLock(String(state));
  if (!record?.holder) return { owner: null, holder: null };
  return { owner: toOwner(record.holder), holder: { ...record.holder, top: record.top } };
}
