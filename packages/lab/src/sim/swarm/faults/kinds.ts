/** Every kind of fault. */
import type { Kind } from "./kind.js";
import { networkKinds } from "./network.js";
import { nodeKinds } from "./node.js";
import { processKinds } from "./process.js";

export const faultKinds: readonly Kind[] = [...networkKinds, ...processKinds, ...nodeKinds];

const byName = new Map(faultKinds.map((kind) => [kind.kind, kind]));

/** @throws {RangeError} a plan of another version */
export function kindOf(name: string): Kind {
  const kind = byName.get(name);
  if (!kind) throw new RangeError(`there is no fault called "${name}"`);
  return kind;
}
