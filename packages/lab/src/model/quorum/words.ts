/** What can happen in the quorum model, and how it is told. */
import type { State } from "../model.js";
import { nodeName, type QuorumPlaces } from "./fields.js";
import type { QuorumTerms } from "./terms.js";

export const QuorumAction = {
  start: 0,
  grant: 1,
  late: 2,
  compute: 3,
  confirm: 4,
  issue: 5,
  giveUp: 6,
  forget: 7,
  save: 8,
  restart: 9,
  tick: 10,
  yield: 11,
  refuse: 12,
  return: 13,
  askOn: 14,
} as const;

export interface QuorumStep {
  readonly action: number;
  /** The attempt, or the node where no attempt takes part. */
  readonly x: number;
  /** The node, where an attempt takes part. */
  readonly y: number;
  readonly before: State;
  readonly after: State;
}

export function quorumWords(terms: QuorumTerms, places: QuorumPlaces, step: QuorumStep): string {
  const { action, x, y, after } = step;
  const client = `client ${x + 1}`;
  const token = after[places.attempts + 3 * x + 1];
  switch (action) {
    case QuorumAction.start:
      return `${client} begins`;
    case QuorumAction.grant:
      return `${nodeName(y)} grants to ${client}: ${grantWords(terms, places, step)}`;
    case QuorumAction.late:
      return `a late copy of the request of ${client} reaches ${nodeName(y)}, which grants: ${grantWords(terms, places, step)}`;
    case QuorumAction.compute:
      return `${client} has a majority and computes token ${token}`;
    case QuorumAction.confirm:
      return `${nodeName(y)} confirms token ${token} to ${client}`;
    case QuorumAction.issue:
      return `${client} returns ${tokenWords(terms, token)} to its caller`;
    case QuorumAction.giveUp:
      return `${client} gives up`;
    case QuorumAction.forget:
      return `the hold of client ${step.before[x * places.width + places.holder]} at ${nodeName(x)} is gone`;
    case QuorumAction.yield:
      return `${client} yields its seat at ${nodeName(y)}`;
    case QuorumAction.refuse:
      return `${nodeName(y)} refuses to confirm to ${client}, which has no seat there any more`;
    case QuorumAction.askOn:
      return `${client} has too few seats left, and asks on`;
    case QuorumAction.return:
      return `${client} returns to ${nodeName(y)}, which grants: ${grantWords(terms, places, step)}`;
    case QuorumAction.save:
      return `what ${nodeName(x)} knows now is what it will find again`;
    case QuorumAction.restart:
      return `${nodeName(x)} restarts ${restartWords(terms, places, step)}`;
    default:
      return `a moment passes: true time is ${after[places.time]}`;
  }
}

function tokenWords({ turns }: QuorumTerms, token = 0): string {
  return turns === 1 ? `token ${token}` : `tokens ${token} to ${token + turns - 1}`;
}

function grantWords(terms: QuorumTerms, places: QuorumPlaces, { y, after }: QuorumStep): string {
  const at = y * places.width;
  if (terms.design.onGrant === "stamp") return `stamp ${after[at + places.mark]}`;
  return `its token is ${after[at + places.token]}`;
}

function restartWords(terms: QuorumTerms, places: QuorumPlaces, { x, after }: QuorumStep): string {
  const silence = terms.clock ? `, silent for ${terms.clock.silence}` : "";
  if (terms.after === "empty") return `and has forgotten everything${silence}`;
  return `with token ${after[x * places.width + places.token]}${silence}`;
}
