/** The one error that the originals do not have. All others are theirs or holdfast's. */
import { HoldfastError } from "holdfast";

/** The original has this function, and holdfast does not. Nothing was sent. The message names the alternative. */
export class NotPortedError extends HoldfastError {
  static readonly code = "NOT_PORTED";
  readonly code = NotPortedError.code;
}
