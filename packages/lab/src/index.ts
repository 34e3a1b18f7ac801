/** Every public name, one explicit list. */

export { diceFor } from "./chance/dice.js";
export { type AdmissionOptions, checkAdmissions } from "./history/admissions.js";
export { checkFence, type FenceOptions } from "./history/fence.js";
export { History } from "./history/history.js";
export { type Hold, type HoldOptions, holdsOf } from "./history/hold.js";
export { checkIntervals, type IntervalOptions } from "./history/intervals.js";
export { appendTo, fromLines, toLine } from "./history/ndjson.js";
export type { Operation } from "./history/operation.js";
export { type Details, type Pending, Recorder } from "./history/recorder.js";
export type { Span } from "./history/span.js";
export { checkTokens, type TokenOptions } from "./history/tokens.js";
export { type Property, properties, type Violation } from "./history/violation.js";
export {
  checkSettling,
  checkTries,
  checkTurns,
  checkWaiting,
  type SettlingOptions,
  type TurnOptions,
  type WaitingOptions,
} from "./history/waiting.js";
export { holdfastOn } from "./sim/holdfast-on.js";
export { Link, type LinkOptions, type Spikes } from "./sim/link.js";
export { Node, type NodeOptions, type Refusal } from "./sim/node.js";
export { Process, type ProcessOptions } from "./sim/process.js";
export { type Reply, ReplyError } from "./sim/resp.js";
export { SimClient, type SimClientOptions } from "./sim/sim-client.js";
export type { Direction, Loss, Wire, WireHandlers } from "./sim/wire.js";
export { World, type WorldError, type WorldOptions } from "./sim/world.js";
export { type FromHistoryOptions, timelineOf } from "./timeline/from-history.js";
export { drawHtml } from "./timeline/html.js";
export { drawSvg } from "./timeline/svg.js";
export { drawText, type TextOptions } from "./timeline/text.js";
export type { Arrow, Band, Bar, Lane, Mark, Timeline } from "./timeline/timeline.js";
