/** The holder that a fence judges: a token, and an id that distinguishes two holders with the same token. */
import { InvalidArgumentError } from "../errors.js";

/** The part of a lease that a fence needs: the token, and the id of its holder. Every `Lease` is one. */
export interface Fenced {
  readonly fence: bigint;
  readonly id: string;
}

/** The largest value of a signed 64-bit column, which every store can keep. */
const LARGEST_TOKEN = 2n ** 63n - 1n;
const ID = /^[\x21-\x7e]{1,200}$/;

export function isToken(token: bigint): boolean {
  return token >= 0n && token <= LARGEST_TOKEN;
}

export function isHolderId(id: string): boolean {
  return ID.test(id);
}

/**
 * Checks a holder for resources outside Redis, whose columns, file names and headers do not accept every value.
 * @throws {InvalidArgumentError}
 */
export function checkFenced(holder: Fenced): Fenced {
  if (typeof holder?.fence !== "bigint" || typeof holder.id !== "string") {
    throw new InvalidArgumentError("holder", "must be a lease, or { fence: bigint, id: string }");
  }
  if (!isToken(holder.fence)) {
    throw new InvalidArgumentError("holder", `must have a fence from 0 to 2^63 - 1, not ${holder.fence}`);
  }
  if (!isHolderId(holder.id)) {
    throw new InvalidArgumentError("holder", "must have an id of 1 to 200 visible ASCII characters");
  }
  return holder;
}

/** The rule of a fence: the newest holder that entered refuses an older token, and an equal token of another holder. */
export function refuses(there: Fenced, comer: Fenced): boolean {
  return there.fence > comer.fence || (there.fence === comer.fence && there.id !== comer.id);
}
