/** LaneCores: the lanes of one Holdfast. All objects for one name share what this process knows and what is under way. */

import { Intake } from "../deliveries/intake.js";
import { type Named, Names } from "../deliveries/names.js";
import { Operations } from "../deliveries/operations.js";
import { Producer } from "../deliveries/producer.js";
import { checkSame } from "../deliveries/same-options.js";
import { LARGEST_MAX_BYTES } from "../deliveries/settings.js";
import { ClosedError, InvalidArgumentError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { StateWaits } from "../redis/state-waits.js";
import type { LanesCore } from "./core.js";
import { laneCalls } from "./lane-calls.js";
import { LaneControl } from "./lane-control.js";
import { LaneScripts } from "./lane-scripts.js";
import { Lanes } from "./lanes.js";
import { type LaneOutcome, outcomeOf } from "./place.js";
import { Positions } from "./positions.js";
import { type LaneItem, LanePushes } from "./pushes.js";
import { checkLanes, type LanesOptions, type LanesSettings } from "./settings.js";
import { formatTicket, type Ticket } from "./ticket.js";
import { Watches } from "./watches.js";

export class LaneCores {
  readonly #context: RedisContext;
  readonly #names: Names<LanesSettings, LanesCore>;
  readonly #waits: StateWaits;

  constructor(context: RedisContext) {
    this.#context = context;
    this.#names = new Names(context, { verb: "lanes", make: (named) => this.#make(named) });
    this.#waits = new StateWaits(context.schedule, context.port, closedError);
  }

  /** @throws {InvalidArgumentError} @throws {ClosedError} */
  lanes<Body, Result>(name: string, options?: LanesOptions): Lanes<Body, Result> {
    const known = this.#names.find(name);
    const settings = options === undefined ? ANY : checkLanes(options);
    if (known?.settings === ANY && options)
      throw new InvalidArgumentError(
        "options",
        `of the lanes '${name}' came too late: give them with the first hf.lanes() of a program`,
      );
    if (known && options)
      checkSame({ kind: "lanes", name, known: known.settings, settings, options, optionOf: OPTION_OF });
    return new Lanes<Body, Result>(known ?? this.#names.add(name, settings));
  }

  /** Ends all watches, waits and consumers, and waits for pushes under way. */
  async close(): Promise<void> {
    this.#waits.close();
    await this.#names.close();
  }

  #make(named: Named<LanesSettings, LanesCore>): LanesCore {
    const context = this.#context;
    const { name, settings, memory, lasting } = named;
    const isGiven = settings !== ANY;
    const calls = laneCalls(context, name, isGiven ? settings : null, memory);
    const scripts = new LaneScripts(calls, settings.deadlineMs);
    const places = (tickets: readonly Ticket[]) => scripts.places(tickets);
    const lastAttempt = isGiven ? lastAttemptOf(settings) : null;
    const control = new LaneControl(calls);
    return {
      scripts,
      control,
      operations: new Operations(calls, (args) => control.redriveStep(args)),
      producer: new Producer<LaneItem, Ticket>(new LanePushes(scripts), context, lasting),
      intake: new Intake(context, scripts, { lastAttempt, lasting, present: () => named.core.intake }),
      positions: new Positions(places, context.schedule.clock),
      watches: new Watches<LaneOutcome>(context, this.#waits, {
        channelOf: (ticket) => calls.outcomeKey(formatTicket(ticket)),
        places,
        outcomeOf,
      }),
    };
  }
}

/** Without options, those that other processes gave count, and the server says which. */
const ANY = checkLanes({ maxBytes: LARGEST_MAX_BYTES });

function closedError(): ClosedError {
  return new ClosedError("hf.close() came before the ticket was over");
}

function lastAttemptOf({ whenFailed, maxAttempts }: LanesSettings): number {
  return whenFailed === "dead-letter" ? 1 : maxAttempts;
}

const OPTION_OF = { rate: "limit" };
