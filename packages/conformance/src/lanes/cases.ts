/** Every case that lanes must pass. */
import type { NounCase } from "../case.js";
import { faultCases } from "./faults.js";
import { operationCases } from "./operation.js";
import { orderCases } from "./order.js";
import { ticketCases } from "./tickets.js";

export const laneCases: readonly NounCase[] = [
  ...orderCases,
  ...ticketCases,
  ...operationCases,
  ...faultCases,
];
