/** Every public name, one explicit list. */
export { checkFence, type FenceOptions } from "./history/fence.js";
export { History } from "./history/history.js";
export { type Hold, type HoldOptions, holdsOf } from "./history/hold.js";
export { checkIntervals, type IntervalOptions } from "./history/intervals.js";
export { type Call, findOrder, type Order, type SequentialModel } from "./history/linearizable.js";
export { checkMutexOrder, type MutexOrderOptions } from "./history/mutex-order.js";
export { appendTo, fromLines, toLine } from "./history/ndjson.js";
export type { Operation } from "./history/operation.js";
export { type Details, type Pending, Recorder } from "./history/recorder.js";
export type { Span } from "./history/span.js";
export { checkTokenColumns, type TokenColumns, type TokenPair } from "./history/token-columns.js";
export { checkTokens, type TokenOptions } from "./history/tokens.js";
export { type Property, properties, type Violation } from "./history/violation.js";
export {
  checkSettling,
  checkTurns,
  checkWaiting,
  type SettlingOptions,
  type TurnOptions,
  type WaitingOptions,
} from "./history/waiting.js";
