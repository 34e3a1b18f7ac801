/** What can happen in the quorum model, and how it is told. */
import type { State } from "../model.js";
import type { QuorumPlaces } from "./places.js";
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
  restart: 8,
  yield: 9,
  refuse: 10,
  askOn: 11,
  return: 12,
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

export function quorumWords({ turns }: QuorumTerms, places: QuorumPlaces, step: QuorumStep): string {
  const { action, x, y, before, after } = step;
  const client = `client ${x + 1}`;
  const token = after[places.tokenOf(x)] as number;
  const tokens = turns === 1 ? `token ${token}` : `tokens ${token} to ${token + turns - 1}`;
  const grant = `grants: stamp ${after[places.stamp(y)]}`;
  switch (action) {
    case QuorumAction.start:
      return `${client} begins`;
    case QuorumAction.grant:
      return `${nodeName(y)}, asked by ${client}, ${grant}`;
    case QuorumAction.late:
      return `a late copy of the request of ${client} reaches ${nodeName(y)}, which ${grant}`;
    case QuorumAction.compute:
      return `${client} has a majority and computes token ${token}`;
    case QuorumAction.confirm:
      return `${nodeName(y)} confirms token ${token} to ${client}`;
    case QuorumAction.issue:
      return `${client} returns ${tokens} to its caller`;
    case QuorumAction.giveUp:
      return `${client} gives up`;
    case QuorumAction.forget:
      return `the hold of client ${before[places.holder(x)]} at ${nodeName(x)} is gone`;
    case QuorumAction.yield:
      return `${client} yields its seat at ${nodeName(y)}`;
    case QuorumAction.refuse:
      return `${nodeName(y)} refuses to confirm to ${client}, which has no seat there any more`;
    case QuorumAction.askOn:
      return `${client} has too few seats left, and asks on`;
    case QuorumAction.return:
      return `${client} returns to ${nodeName(y)}, which ${grant}`;
    default:
      return `${nodeName(x)} restarts and has forgotten everything`;
  }
}

function nodeName(node: number): string {
  return String.fromCharCode(65 + node);
}
