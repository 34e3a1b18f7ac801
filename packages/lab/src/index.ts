/**
 * Every public name, one explicit list: a world in virtual time, a history with the checker of the example, and its
 * pictures. Harnesses and tests of this package import what they need from its files.
 */
export { Dice } from "./chance/dice.js";
export { History } from "./history/history.js";
export { checkIntervals } from "./history/intervals.js";
export { holdfastOn } from "./sim/holdfast-on.js";
export type { Node } from "./sim/node.js";
export { redlockOn } from "./sim/redlock-on.js";
export { type Reply, ReplyError } from "./sim/resp.js";
export { World } from "./sim/world.js";
export { timelineOf } from "./timeline/from-history.js";
export { drawText } from "./timeline/text.js";
