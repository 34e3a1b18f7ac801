/** Votes: the arithmetic of a quorum. Nothing here asks a server or reads a clock. */
import type { HoldfastError, NodeVote, Owner } from "../../../errors.js";
import { agedMs, type Instant } from "../../../time/clock.js";
import type { SeenHolder } from "../redis/verdicts.js";

/** The smallest number of nodes of which every two sets have one in common. Even numbers of nodes need one more than half, too. */
export function quorumOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/** How many nodes said what to one claim. All nodes that are in none of these counts refused it. */
export interface Tally {
  readonly nodes: number;
  readonly granted: number;
  /** No answer has come yet. */
  readonly asking: number;
  /** They did not answer, may not be asked, or their answer does not count. */
  readonly failed: number;
}

/** `open`: the answers to come decide. `no-quorum`: failures alone make a quorum impossible. */
export type Result = "quorum" | "open" | "busy" | "no-quorum";

/** Certain as soon as possible, either way. */
export function resultOf({ nodes, granted, asking, failed }: Tally): Result {
  const needed = quorumOf(nodes);
  if (granted >= needed) return "quorum";
  if (nodes - failed < needed) return "no-quorum";
  // With nodes that failed, the answers to come decide whether others hold it or too many nodes are away.
  const isClear = failed === 0 || nodes - failed - asking >= needed;
  return granted + asking >= needed || (asking > 0 && !isClear) ? "open" : "busy";
}

/** Which seats a lease must not outlive, and since when. Null: the lease has fewer seats than a quorum needs. */
export function leaseStart(sentAts: readonly Instant[], nodes: number, now: Instant): Instant | null {
  // With each of the youngest seats the lease has its quorum. The oldest of those is the first that it loses.
  const youngestFirst = [...sentAts].sort((a, b) => agedMs(now, a) - agedMs(now, b));
  return youngestFirst[quorumOf(nodes) - 1] ?? null;
}

/**
 * The place in all lines of a claim: one number for all nodes, so that all lines have the same order. One clock that is wrong does
 * not decide it.
 * @param clocks readings of the nodes' clocks, 16 digits each, and "0" for none
 * @param own the reading of the own clock, for a claim to which no node said its own
 */
export function commonTicket(clocks: readonly string[], own: string): string {
  const known = clocks.filter((clock) => clock !== "0").sort();
  return known[(known.length - 1) >> 1] ?? own;
}

export interface Place {
  readonly ticket: string;
  readonly id: string;
}

/** Whether one claim comes before another, as the lines of the servers order them. */
export function comesBefore(one: Place, other: Place): boolean {
  const [a, b] = [BigInt(one.ticket), BigInt(other.ticket)];
  return a < b || (a === b && one.id < other.id);
}

/** The id of a claim, of that of one of its seats. */
export function claimIdOf(seatId: string): string {
  const [id = seatId] = seatId.split(".", 1);
  return id;
}

/**
 * The id of one seat of a claim. The first one at the first node is that of the claim.
 * @param number No two places of the list have one in common, so that one server at two of them keeps their seats apart.
 * @param token that of the claim, for a seat that comes back: the node gives it a larger one, by which nobody could tell the claim's
 */
export function seatId(claimId: string, number: number, token: bigint | null = null): string {
  if (token !== null) return `${claimId}.${number}.${token}`;
  return number === 0 ? claimId : `${claimId}.${number}`;
}

/** The token of the claim, by the id of a seat that came back; null: the id is that of another seat. */
function tokenIn(seatId: string): bigint | null {
  const token = seatId.split(".")[2];
  return token !== undefined && /^\d{1,16}$/.test(token) ? BigInt(token) : null;
}

/**
 * Whether somebody has a quorum, or may have one, as far as the holders that the nodes named can tell.
 * @param holders the claim that holds each node, where that is known
 */
export function mayHaveQuorum(holders: readonly (string | null)[], unknown: number): boolean {
  const needed = quorumOf(holders.length);
  const counts = countsOf(holders);
  return Math.max(0, ...counts.values()) + unknown >= needed;
}

function countsOf(holders: readonly (string | null)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const holder of holders) if (holder !== null) counts.set(holder, (counts.get(holder) ?? 0) + 1);
  return counts;
}

/** 0 for none. */
export function largestOf(tokens: readonly bigint[]): bigint {
  let largest = 0n;
  for (const token of tokens) if (token > largest) largest = token;
  return largest;
}

/** A holder, as one node named it. */
export interface Named {
  readonly owner: Owner | null;
  readonly holder: Pick<SeenHolder, "id" | "token" | "top"> | null;
}

/** The owner that most nodes name. */
export function ownerOf(named: readonly Named[]): Owner | null {
  const claims = named.map(({ holder }) => holder && claimIdOf(holder.id));
  const counts = countsOf(claims);
  let most: string | null = null;
  for (const [claim, count] of counts) if (most === null || count > (counts.get(most) ?? 0)) most = claim;
  const theirs = named.filter((_, place) => claims[place] === most);
  const owner = theirs.find((each) => each.owner)?.owner;
  return owner ? { ...owner, fence: fenceOf(theirs.flatMap(({ holder }) => holder ?? [])) } : null;
}

/**
 * The token of a claim, by its seats at any quorum of nodes. Each node gave a token of its own, and reserved as many behind it as all
 * others. Then the claim raised the last token of its quorum to one number, but not at the node that gave the largest token.
 */
export function fenceOf(seats: readonly Pick<SeenHolder, "id" | "token" | "top">[]): bigint {
  for (const { id } of seats) {
    const token = tokenIn(id);
    if (token !== null) return token;
  }
  const spreads = seats.map(({ token, top }) => top - token).sort((a, b) => (a < b ? -1 : 1));
  const [spread = 0n] = spreads;
  const raised = seats.find(({ token, top }) => top - token > spread);
  return (raised?.top ?? mostOf(seats.map(({ top }) => top))) - spread;
}

/** The number that most of them are; the smallest of those. A node that answered too late to be counted gave a later token. */
function mostOf(numbers: readonly bigint[]): bigint {
  const counts = new Map<bigint, number>();
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1);
  const [most] = [...counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  return most?.[0] ?? 0n;
}

/** A seat, as far as its vote goes. */
interface Voting {
  readonly node: { readonly name: string; readonly place: number };
  readonly state: "absent" | "asking" | "denied" | "in line" | "granted";
  readonly error: HoldfastError | null;
}

export function voteOf({ node: { name, place }, state, error }: Voting): NodeVote {
  if (state === "granted") return { node: name, place, vote: "for", error: null };
  return { node: name, place, vote: state === "asking" ? "none" : "against", error };
}
