/**
 * holdfast/locks/redis: what holdfast keeps of a lock in Redis, for programs that read it past holdfast, such as tests and
 * simulators. The layout may change with each release; a program should prefer `hf.inspector()`.
 */
export { parseProcess } from "../../../process-record.js";
export { lockKeys } from "../../../redis/keys.js";
export {
  formatLock,
  type HolderRecord,
  type LockRecord,
  leaseLeftMs,
  parseLock,
  parseWaiter,
  type WaiterRecord,
} from "./lock-state.js";
