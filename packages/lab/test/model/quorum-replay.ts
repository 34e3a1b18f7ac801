/** Does to real nodes what a trace of the model did, and says what came of it there. */
import { QuorumAction } from "../../src/model/quorum/words.js";
import type { TraceStep } from "../../src/model/trace.js";
import type { QuorumNodes, QuorumScripts } from "./quorum-nodes.js";

interface Attempt {
  /** What each node said, and whether it confirmed. */
  readonly said: Map<number, number>;
  readonly confirmed: Set<number>;
  token: number;
}

export interface Replay {
  /** Tokens in the order in which they were returned to callers. */
  readonly issued: readonly number[];
  /** What the model did and the nodes refused, in words. */
  readonly refused: readonly string[];
}

export function replay(
  nodes: QuorumNodes,
  scripts: QuorumScripts,
  trace: readonly TraceStep[],
  quorum = 2,
  onRestart: () => void = () => {},
): Replay {
  const attempts = new Map<number, Attempt>();
  const issued: number[] = [];
  const refused: string[] = [];
  const attemptOf = (number: number): Attempt => {
    const attempt = attempts.get(number) ?? { said: new Map(), confirmed: new Set(), token: 0 };
    attempts.set(number, attempt);
    return attempt;
  };
  // What was the token in the model, which needs no confirmation, may be another stamp here.
  const confirmRest = (attempt: Attempt, x: number): void => {
    if (!scripts.skipsOwn) return;
    for (const [node, said] of attempt.said)
      if (nodes.confirm(scripts, node, x, said, attempt.token)) attempt.confirmed.add(node);
  };
  for (const { action, x, y, text } of trace) {
    const attempt = attemptOf(x);
    let done = true;
    if (action === QuorumAction.grant) {
      const said = nodes.grant(scripts, y, x);
      if (said === null) done = false;
      else attempt.said.set(y, said);
    } else if (action === QuorumAction.late) {
      done = nodes.grant(scripts, y, x) !== null;
    } else if (action === QuorumAction.compute) {
      done = attempt.said.size >= quorum;
      if (done) attempt.token = scripts.token([...attempt.said.values()]);
      for (const [node, said] of attempt.said)
        if (scripts.skipsOwn && said === attempt.token) attempt.confirmed.add(node);
    } else if (action === QuorumAction.confirm) {
      const said = attempt.said.get(y);
      done = said !== undefined && nodes.confirm(scripts, y, x, said, attempt.token);
      if (done) attempt.confirmed.add(y);
    } else if (action === QuorumAction.issue) {
      if (attempt.token === 0) attempt.token = scripts.token([...attempt.said.values()]);
      confirmRest(attempt, x);
      const agreed = scripts.confirm === null ? attempt.said.size : attempt.confirmed.size;
      done = agreed >= quorum;
      if (done) issued.push(attempt.token);
    } else if (action === QuorumAction.forget) {
      nodes.forget(scripts, x);
    } else if (action === QuorumAction.restart) {
      nodes.restart(x);
      onRestart();
    }
    if (!done) refused.push(text);
  }
  return { issued, refused };
}
