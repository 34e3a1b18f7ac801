/** LanesCore: the parts of the lanes of one name in one process. All objects for the name share them. */
import type { Parts } from "../deliveries/names.js";
import type { Operations } from "../deliveries/operations.js";
import type { Producer } from "../deliveries/producer.js";
import type { LaneControl } from "./lane-control.js";
import type { LaneScripts } from "./lane-scripts.js";
import type { LaneOutcome } from "./place.js";
import type { Positions } from "./positions.js";
import type { LaneItem } from "./pushes.js";
import type { Ticket } from "./ticket.js";
import type { Watches } from "./watches.js";

export interface LanesCore extends Parts {
  readonly scripts: LaneScripts;
  readonly control: LaneControl;
  readonly operations: Operations;
  readonly producer: Producer<LaneItem, Ticket>;
  readonly positions: Positions;
  readonly watches: Watches<LaneOutcome>;
}
