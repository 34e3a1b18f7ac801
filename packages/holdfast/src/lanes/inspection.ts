/** LanesInspection: lanes as they look from outside, whichever process asks. */
import type { RedisContext } from "../redis/context.js";
import { errorOfOne } from "../redis/foreign.js";
import { lookAtNames } from "../redis/scan.js";
import { laneCalls } from "./lane-calls.js";
import { LaneControl, type LanesState } from "./lane-control.js";

/** The lanes of one name, at one moment. */
export interface InspectedLanes extends LanesState {
  readonly name: string;
}

export class LanesInspection {
  readonly #context: RedisContext;

  constructor(context: RedisContext) {
    this.#context = context;
  }

  /** @throws {ServerError} another program owns a key of them */
  async look(name: string): Promise<InspectedLanes> {
    const control = new LaneControl(laneCalls(this.#context, name, null));
    return { name, ...(await control.state()) };
  }

  /** The lanes that have been used and not reset, in no order. */
  async *list(pattern: string): AsyncGenerator<InspectedLanes, void, undefined> {
    const look = (names: readonly string[]) =>
      Promise.all(names.map((name) => this.look(name).catch(errorOfOne)));
    for await (const lanes of lookAtNames(this.#context, "lanes", pattern, look))
      if (lanes.exists) yield lanes;
  }
}
