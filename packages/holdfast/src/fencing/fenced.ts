/** Who comes to a fence: a token, and an id that tells two holders of one token apart. */
import { InvalidArgumentError } from "../errors.js";

/** What a fence needs of a lease: its token, and who brings it. A `Lease` is one. */
export interface Fenced {
  readonly fence: bigint;
  readonly id: string;
}

/** Every store can keep it: the largest value of a signed 64-bit column. */
const LARGEST_TOKEN = 2n ** 63n - 1n;
const ID = /^[\x21-\x7e]{1,200}$/;

export function isToken(token: bigint): boolean {
  return token >= 0n && token <= LARGEST_TOKEN;
}

export function isHolderId(id: string): boolean {
  return ID.test(id);
}

/**
 * For resources outside Redis, whose columns, file names and headers do not take everything.
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

/** The rule of a fence: who was there refuses an older token, and an equal one of another holder. */
export function refuses(there: Fenced, comer: Fenced): boolean {
  return there.fence > comer.fence || (there.fence === comer.fence && there.id !== comer.id);
}
