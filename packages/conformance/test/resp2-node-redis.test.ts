import { mutexThemes } from "@holdfast/conformance";
import { nodeRedis } from "./clients.ts";
import { runCases } from "./matrix.ts";

/** The themes in which replies and messages of every shape are read. */
const { exclusion, tokens, waiting, handover, turns, mixed, fencing, telling } = mutexThemes;

runCases("redis-server", nodeRedis(2), [
  ...exclusion,
  ...tokens,
  ...waiting,
  ...handover,
  ...turns,
  ...mixed,
  ...fencing,
  ...telling,
]);
