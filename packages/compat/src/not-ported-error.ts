/** What a compat module has of its own to say; the other errors are those of the originals and of holdfast. */
import { HoldfastError } from "holdfast";

/** The original could do this, and holdfast cannot. Nothing was sent; the message says what to do instead. */
export class NotPortedError extends HoldfastError {
  static readonly code = "NOT_PORTED";
  readonly code = NotPortedError.code;
}
