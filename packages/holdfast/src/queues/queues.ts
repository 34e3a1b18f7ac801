/** Queues: the queues of one Holdfast. All objects for one name share what they know and what is under way. */

import { Intake } from "../deliveries/intake.js";
import { type Named, Names } from "../deliveries/names.js";
import { Operations } from "../deliveries/operations.js";
import { Producer } from "../deliveries/producer.js";
import { Results } from "../deliveries/results.js";
import { checkSame } from "../deliveries/same-options.js";
import type { RedisContext } from "../redis/context.js";
import { QueueInspection } from "./inspection.js";
import { type Pushed, type QueueItem, QueuePushes } from "./pushes.js";
import { Queue } from "./queue.js";
import type { QueueCore } from "./queue-core.js";
import { QueueScripts } from "./queue-scripts.js";
import { checkQueue, type QueueOptions, type QueueSettings } from "./settings.js";

export class Queues {
  readonly #context: RedisContext;
  readonly #results: Results;
  readonly #inspection: QueueInspection;
  readonly #names: Names<QueueSettings, QueueCore>;

  constructor(context: RedisContext) {
    this.#context = context;
    this.#results = new Results(context);
    this.#inspection = new QueueInspection(context);
    this.#names = new Names(context, { verb: "queue", make: (named) => this.#make(named) });
  }

  /**
   * @param options absent: those that this program gave before, else the defaults
   * @throws {InvalidArgumentError} @throws {ClosedError}
   */
  queue<Body, Result>(name: string, options?: QueueOptions): Queue<Body, Result> {
    const known = this.#names.find(name);
    const settings = options === undefined ? DEFAULTS : checkQueue(options);
    if (known && options)
      checkSame({ kind: "queue", name, known: known.settings, settings, options, optionOf: OPTION_OF });
    return new Queue<Body, Result>(known ?? this.#names.add(name, settings));
  }

  /** Ends all waits and consumers, and waits for pushes under way. */
  async close(): Promise<void> {
    this.#results.close();
    await this.#names.close();
  }

  #make(named: Named<QueueSettings, QueueCore>): QueueCore {
    const context = this.#context;
    const { name, settings, memory, lasting } = named;
    const scripts = new QueueScripts(context, name, settings, memory);
    const present = (): Intake => named.core.intake;
    const terms = { ...settings, lastAttempt: settings.maxAttempts, lasting, present };
    return {
      scripts,
      operations: new Operations(scripts.calls, (args) => scripts.redriveStep(args)),
      producer: new Producer<QueueItem, Pushed>(new QueuePushes(scripts), context, lasting),
      intake: new Intake(context, scripts, terms),
      results: this.#results,
      inspection: this.#inspection,
    };
  }
}

const DEFAULTS = checkQueue();
const OPTION_OF = { dropsOldest: "whenFull" };
