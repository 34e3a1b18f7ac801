/** QueueCore: what all objects for one queue in this process share. */
import type { QueueInspection } from "./inspection.js";
import type { Intake } from "./intake.js";
import type { Producer } from "./producer.js";
import type { Pushed, QueueItem } from "./pushes.js";
import type { QueueScripts } from "./queue-scripts.js";
import type { Results } from "./results.js";
import type { QueueSettings } from "./settings.js";

export interface QueueCore {
  readonly name: string;
  readonly settings: QueueSettings;
  readonly scripts: QueueScripts;
  readonly producer: Producer<QueueItem, Pushed>;
  readonly intake: Intake;
  readonly results: Results;
  readonly inspection: QueueInspection;
}
