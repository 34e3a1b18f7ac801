/** `holdfast/middleware`: the shared functions of the middlewares, and their core, for a shell of your own. */
export { AddressList, ipKey } from "./address.js";
export type { Answer, Refusal } from "./answer.js";
export type { Trust } from "./client-address.js";
export { type Admission, type HasLimits, type Incoming, RequestLimiter } from "./core.js";
export { type Field, type FieldStyle, writeFields } from "./fields.js";
export type { Count, GuardRule, Key, LimitRule, Outcome, RateLimitOptions } from "./options.js";
export { targetOf } from "./target.js";
