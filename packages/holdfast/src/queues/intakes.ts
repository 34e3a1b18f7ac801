/** Intakes: one for each name from which this process receives. It passes on the messages of the inbox. */
import type { DeliveryScripts } from "./delivery-scripts.js";
import { Intake, type IntakeSettings } from "./intake.js";
import type { TakerContext } from "./taker.js";

export class Intakes {
  readonly #context: TakerContext;
  readonly #byName = new Map<string, Intake>();

  /** @param verb of the messages about these names */
  constructor(context: TakerContext, verb: "queue" | "lanes") {
    this.#context = context;
    context.port.onClosed?.((error) => {
      for (const intake of this.#byName.values()) intake.refused(error);
    });
    const take = ([name = "", handle, body]: readonly string[]): void => {
      this.#byName.get(decoded(name))?.message(handle, body);
    };
    context.inbox.handle(verb, take, 2);
    context.inbox.serve({
      waits: () => [...this.#byName.values()].some(({ isNeeded }) => isNeeded),
      turned: () => {
        for (const intake of this.#byName.values()) intake.turned();
      },
    });
  }

  /** Makes the intake of a name, which has none yet. */
  open(scripts: DeliveryScripts, settings: IntakeSettings): Intake {
    const intake = new Intake(this.#context, scripts, settings);
    this.#byName.set(scripts.name, intake);
    return intake;
  }

  /** Ends every wait and every consumer, and returns what this process has. */
  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map((intake) => intake.close()));
  }
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
