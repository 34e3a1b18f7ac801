/**
 * Lost updates. Who writes names the write that it had read before: two accepted writes that follow from the same one
 * mean that one of them was overwritten by somebody who had not seen it.
 */
import type { Operation } from "../history/operation.js";
import { byKey, type Violation } from "../history/violation.js";
import type { Written } from "./written.js";

export function checkChain(operations: Iterable<Operation>): Violation[] {
  return [...byKey(operations)].flatMap(([key, all]) => {
    const next = new Map<string | null, Operation>();
    const violations: Violation[] = [];
    for (const operation of all) {
      if (operation.f !== "write" || operation.type !== "ok") continue;
      const { after } = operation.value as Written;
      const other = next.get(after);
      if (other) violations.push(lost(key, other, operation));
      next.set(after, operation);
    }
    return violations;
  });
}

function lost(key: string, first: Operation, second: Operation): Violation {
  const { after } = second.value as Written;
  return {
    property: "L3",
    key,
    operations: [first, second],
    message: `"${key}" lost an update: ${first.process} and ${second.process} both read ${after} and wrote after it`,
    atMs: second.retMs ?? second.invMs,
  };
}
