/** Guard: counts the hits of each subject on each route, and punishes who goes over, more with each strike. */
import { checkWord } from "../arguments.js";
import type { GuardEngine } from "./guard-engine.js";
import type { HitOptions } from "./guard-lists.js";
import {
  type GuardOptions,
  type GuardSettings,
  type GuardVerdict,
  parseGuardOptions,
} from "./guard-settings.js";

export class Guard {
  readonly name: string;
  readonly #settings: GuardSettings;
  readonly #engine: GuardEngine;

  /** Made by `hf.guard(name, options)`. */
  constructor(engine: GuardEngine, name: string, options: GuardOptions) {
    this.name = checkWord("name", name);
    this.#settings = parseGuardOptions(name, options);
    this.#engine = engine;
  }

  /**
   * Counts a hit. The one that goes over is punished: the subject is barred from all routes of this guard until the
   * penalty ends, and its counts begin anew. Who hits during a penalty is answered in this process, without Redis, and
   * does not prolong it unless the penalty says so.
   *
   * A pardon by another process is seen here when the penalty would have ended, at the latest.
   * @param route hits are counted for each by itself; name it by its pattern, not by what a caller may choose
   * @throws {InvalidArgumentError} @throws {ClosedError}
   * @throws {IndeterminateError} @throws {ServerError} only with `outage: "error"`
   */
  async hit(subject: string, route = "", options?: HitOptions): Promise<GuardVerdict> {
    const engine = this.#engine;
    return engine.hit(this.#settings, checkWord("subject", subject), checkRoute(route), options);
  }

  /** What stands against the subject, without a hit. Errors as for `hit`. */
  async look(subject: string, route = "", options?: HitOptions): Promise<GuardVerdict> {
    const engine = this.#engine;
    return engine.look(this.#settings, checkWord("subject", subject), checkRoute(route), options);
  }

  /** From now on nothing stands against the subject: no penalty, no strike, no hit. Rejects whatever `outage` says. */
  async pardon(subject: string): Promise<void> {
    const engine = this.#engine;
    return engine.pardon(this.#settings, checkWord("subject", subject));
  }
}

function checkRoute(route: unknown): string {
  return route === "" ? route : checkWord("route", route);
}
