/**
 * What a Holdfast loads after the first answer to its first lock, or at the latest when it is needed: a
 * process that only takes free locks and releases them does not wait for it.
 */
export { Contention } from "./locks/backends/redis/contention.js";
export { asHoldfastError } from "./redis/failures.js";
