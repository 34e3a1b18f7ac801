/** Refusals: the errors with which a settlement of a delivery may fail. */
import { DeliveryLostError, UnavailableError } from "holdfast";

/** The delivery is over, or nothing could be sent before it was. */
const refusals = [DeliveryLostError, UnavailableError];

export function isRefusal(error: unknown): boolean {
  return refusals.some((one) => error instanceof one);
}
