/** Every kind of fault. */
import type { Kind } from "./kind.js";
import { messagesElsewhere, networkKinds, slowNetwork } from "./network.js";
import { nodeKinds } from "./node.js";
import { poison, processKinds } from "./process.js";
import { restartKinds } from "./restart.js";
import { forbidden } from "./rights.js";

/** What plans with one node have. */
export const faultKinds: readonly Kind[] = [...networkKinds, ...processKinds, ...nodeKinds];

/** These leave a node its run id, which a real server draws when it starts. */
const sameRun = ["rollback", "failover"];

/** What plans with several nodes have. */
export const quorumKinds: readonly Kind[] = [
  ...faultKinds.filter(({ kind }) => !sameRun.includes(kind)),
  ...restartKinds,
];

const byName = new Map(
  [...faultKinds, ...quorumKinds, forbidden, slowNetwork, messagesElsewhere, poison].map((kind) => [
    kind.kind,
    kind,
  ]),
);

/** @throws {RangeError} a plan of another version */
export function kindOf(name: string): Kind {
  const kind = byName.get(name);
  if (!kind) throw new RangeError(`there is no fault called "${name}"`);
  return kind;
}
