/** QueueCore: the parts of a queue in one process. All objects for the queue share them. */

import type { Parts } from "../deliveries/names.js";
import type { Operations } from "../deliveries/operations.js";
import type { Producer } from "../deliveries/producer.js";
import type { Results } from "../deliveries/results.js";
import type { QueueInspection } from "./inspection.js";
import type { Pushed, QueueItem } from "./pushes.js";
import type { QueueScripts } from "./queue-scripts.js";

export interface QueueCore extends Parts {
  readonly scripts: QueueScripts;
  readonly operations: Operations;
  readonly producer: Producer<QueueItem, Pushed>;
  readonly results: Results;
  readonly inspection: QueueInspection;
}
