/** `@holdfast/compat`: the names that all shapes share. Each shape has an entry point of its own. */
export { NotPortedError } from "./not-ported-error.js";
export { closeHoldfasts, holdfastOf } from "./shared-holdfast.js";
