/** An edit of a batch that ends with nothing changed, thrown where it is found so that transactions roll back. */
import type { EditResult } from "./service.js";

export type EditRefusal = Extract<EditResult, { ok: false }>;

export class EditRefused extends Error {
  override readonly name = "EditRefused";
  readonly reason: EditRefusal["reason"];
  /** The id that was refused, where there is one. */
  readonly subject: string | null;

  constructor(reason: EditRefusal["reason"], subject: string | null = null) {
    super(`the edit was refused: ${reason}${subject === null ? "" : ` (${subject})`}`);
    this.reason = reason;
    this.subject = subject;
  }
}
