import { mutexThemes } from "@holdfast/conformance";
import { nodeRedis } from "./clients.ts";
import { runCases } from "./matrix.ts";

/** The themes that between them run every script and every way to be woken. */
const { exclusion, tokens, waiting, handover, turns, renewal, batches, release, fencing, restart } =
  mutexThemes;

runCases("valkey-server, ACL", nodeRedis(), [
  ...exclusion,
  ...tokens,
  ...waiting,
  ...handover,
  ...turns,
  ...renewal,
  ...batches,
  ...release,
  ...fencing,
  ...restart,
]);
