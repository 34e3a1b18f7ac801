/** LaneCores: the lanes of one Holdfast. All objects for one name share what this process knows and what is under way. */
import { checkLockName } from "../arguments.js";
import { ClosedError, InvalidArgumentError } from "../errors.js";
import { Intakes } from "../queues/intakes.js";
import { Producer } from "../queues/producer.js";
import { LARGEST_MAX_BYTES } from "../queues/settings.js";
import type { RedisContext } from "../redis/context.js";
import type { LanesCore } from "./core.js";
import { LaneCalls } from "./lane-calls.js";
import { LaneControl } from "./lane-control.js";
import { LaneScripts } from "./lane-scripts.js";
import { Lanes } from "./lanes.js";
import { type LaneOutcome, outcomeOf } from "./outcome.js";
import { Positions } from "./positions.js";
import { type LaneItem, LanePushes } from "./pushes.js";
import { checkLanes, type LanesOptions, type LanesSettings } from "./settings.js";
import { formatTicket, type Ticket } from "./ticket.js";
import { Watches } from "./watches.js";

interface Known {
  readonly core: LanesCore;
  /** The first caller gave options. */
  readonly hasOptions: boolean;
}

export class LaneCores {
  readonly #context: RedisContext;
  readonly #intakes: Intakes;
  readonly #known = new Map<string, Known>();
  #closed = false;

  constructor(context: RedisContext) {
    this.#context = context;
    this.#intakes = new Intakes(context, "lanes");
  }

  /** @throws {InvalidArgumentError} @throws {ClosedError} */
  lanes<Body, Result>(name: string, options?: LanesOptions): Lanes<Body, Result> {
    if (this.#closed) throw new ClosedError("lanes() was called after hf.close()");
    const known = this.#known.get(checkLockName(name));
    if (known && options) checkSame(name, known, options);
    return new Lanes<Body, Result>(known?.core ?? this.#open(name, options));
  }

  /** Ends all watches, waits and consumers, and waits for pushes under way. */
  async close(): Promise<void> {
    this.#closed = true;
    const cores = [...this.#known.values()].map(({ core }) => core);
    for (const { watches } of cores) watches.close();
    await Promise.all([this.#intakes.close(), ...cores.map(({ producer }) => producer.close())]);
  }

  #open(name: string, options: LanesOptions | undefined): LanesCore {
    const context = this.#context;
    // Without options, those that other processes gave count, and the server says which.
    const settings = checkLanes(options ?? { maxBytes: LARGEST_MAX_BYTES });
    const calls = new LaneCalls(context, name, options === undefined ? null : settings);
    const scripts = new LaneScripts(calls, settings.deadlineMs);
    const places = (tickets: readonly Ticket[]) => scripts.places(tickets);
    const core: LanesCore = {
      name,
      settings,
      scripts,
      control: new LaneControl(calls),
      producer: new Producer<LaneItem, Ticket>(new LanePushes(scripts), context),
      intake: this.#intakes.open(scripts, {
        lastAttempt: options === undefined ? null : lastAttemptOf(settings),
      }),
      positions: new Positions(places, context.schedule.clock),
      watches: new Watches<LaneOutcome>(context, {
        channelOf: (ticket) => scripts.resultKey(formatTicket(ticket)),
        places,
        outcomeOf,
      }),
    };
    this.#known.set(name, { core, hasOptions: options !== undefined });
    return core;
  }
}

function lastAttemptOf({ whenFailed, maxAttempts }: LanesSettings): number {
  return whenFailed === "dead-letter" ? 1 : maxAttempts;
}

/** The names of the settings that have another one as options. */
const OPTION_OF: Readonly<Partial<Record<keyof LanesSettings, keyof LanesOptions>>> = {
  deadlineMs: "deadline",
  keepResultsMs: "keepResults",
  rate: "limit",
};

/** Two sets of options for one name would make it a matter of chance which of them counts. */
function checkSame(name: string, { core, hasOptions }: Known, options: LanesOptions): void {
  const settings = checkLanes(options);
  if (!hasOptions)
    throw new InvalidArgumentError(
      "options",
      `of the lanes '${name}' came too late: give them with the first hf.lanes() of a program`,
    );
  const words = (of: LanesSettings, key: keyof LanesSettings): string =>
    typeof of[key] === "object" ? JSON.stringify(of[key]) : String(of[key]);
  const different = (Object.keys(settings) as (keyof LanesSettings)[])
    .filter((key) => words(core.settings, key) !== words(settings, key))
    .map((key) => ({ key, option: OPTION_OF[key] ?? (key as keyof LanesOptions) }));
  // An option that the caller gave says more than one that has its default.
  const found = different.find(({ option }) => options[option] !== undefined) ?? different[0];
  if (!found) return;
  const { key, option } = found;
  const unit = key.endsWith("Ms") ? " ms" : "";
  const [was, is] = [words(core.settings, key) + unit, words(settings, key) + unit];
  throw new InvalidArgumentError(
    "options",
    `of the lanes '${name}' must be the same for each hf.lanes() of a program: ${option} was ${was}, ` +
      `and is ${is}${options[option] === undefined ? " (the default)" : ""}. Make one object and export it, or leave the options out`,
  );
}
