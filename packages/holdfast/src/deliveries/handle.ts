/** The handle of a delivery, as lua/_handle.lua writes it. */

/** What a handle says. */
export interface Handle {
  /** Larger than that of every earlier delivery of the queue. */
  readonly token: bigint;
  /** The id of the message: its number; in lanes its ticket, `<number>@<lane, percent-encoded>`. */
  readonly id: string;
  readonly attempt: number;
  /** The id of the process that has it. */
  readonly process: string;
  /** Null: the message has no lane. */
  readonly lane: string | null;
}

/** Null: it is no handle. */
export function parseHandle(handle: string): Handle | null {
  const [, token, number, attempt, process = "", lane] =
    /^(\d{1,16}):(\d{1,16}):(\d{1,15})!?:([^:]+)(?::([^:]*))?$/.exec(handle) ?? [];
  if (token === undefined || number === undefined) return null;
  return {
    token: BigInt(token),
    id: lane === undefined ? number : `${number}@${lane}`,
    attempt: Number(attempt),
    process,
    lane: lane === undefined ? null : decodeURIComponent(lane),
  };
}

/** What comes before the name of a lane, which may be any text. */
const UNSURE = /^\d+:\d+:\d+!/;

/** Whether the first lease of an earlier delivery of this message ran out. Quick, because each delivery is looked at for it. */
export function isUnsure(handle: string): boolean {
  return UNSURE.test(handle);
}
