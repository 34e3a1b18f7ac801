/** QueueCore: the parts of a queue in one process. All objects for the queue share them. */
import type { QueueInspection } from "./inspection.js";
import type { Parts } from "./names.js";
import type { Producer } from "./producer.js";
import type { Pushed, QueueItem } from "./pushes.js";
import type { QueueScripts } from "./queue-scripts.js";
import type { Results } from "./results.js";

export interface QueueCore extends Parts {
  readonly scripts: QueueScripts;
  readonly producer: Producer<QueueItem, Pushed>;
  readonly results: Results;
  readonly inspection: QueueInspection;
}
