/** Every case that a queue must pass. */
import type { NounCase } from "../case.js";
import { boundCases } from "./bounds.js";
import { deliveryCases } from "./deliveries.js";
import { faultCases } from "./faults.js";
import { operationCases } from "./operation.js";
import { pushCases } from "./pushes.js";

export const queueCases: readonly NounCase[] = [
  ...pushCases,
  ...deliveryCases,
  ...boundCases,
  ...operationCases,
  ...faultCases,
];
