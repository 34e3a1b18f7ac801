/** TrafficJam: the gem's module: its configuration, and a limit by the name of an action that was registered. */
import { checkOptions } from "../options.js";
import { type Configuration, configOfAll } from "./configuration.js";
import { answerOf, holdfastFor, indexFor } from "./gauge.js";
import { Limit } from "./limit.js";
import type { IncrementOptions } from "./limiter.js";
import type { RateLimitValue } from "./value.js";

export interface ResetAllOptions {
  /** Only limits of this action. */
  readonly action?: string | undefined;
}

export const TrafficJam = {
  get config(): Configuration {
    return configOfAll;
  },

  configure(change: (config: Configuration) => void): void {
    change(configOfAll);
  },

  /** A Limit with the max and the period that are registered. @throws {LimitNotFoundError} */
  limit(action: string, value: RateLimitValue): Limit {
    return new Limit(action, value, configOfAll.limits(action));
  },

  async exceeded(action: string, value: RateLimitValue, amount?: number): Promise<boolean> {
    return TrafficJam.limit(action, value).exceeded(amount);
  },

  async increment(
    action: string,
    value: RateLimitValue,
    amount?: number,
    options?: IncrementOptions,
  ): Promise<boolean> {
    return TrafficJam.limit(action, value).increment(amount, options);
  },

  async incrementOrThrow(
    action: string,
    value: RateLimitValue,
    amount?: number,
    options?: IncrementOptions,
  ): Promise<void> {
    return TrafficJam.limit(action, value).incrementOrThrow(amount, options);
  },

  async decrement(
    action: string,
    value: RateLimitValue,
    amount?: number,
    options?: IncrementOptions,
  ): Promise<boolean> {
    return TrafficJam.limit(action, value).decrement(amount, options);
  },

  async reset(action: string, value: RateLimitValue): Promise<void> {
    return TrafficJam.limit(action, value).reset();
  },

  async used(action: string, value: RateLimitValue): Promise<number> {
    return TrafficJam.limit(action, value).used();
  },

  async remaining(action: string, value: RateLimitValue): Promise<number> {
    return TrafficJam.limit(action, value).remaining();
  },

  /**
   * Sets the used amount of every limit of this configuration to 0, or of those of one action. Its duration grows with the
   * number of limits, and other calls go on meanwhile.
   */
  async resetAll(options: ResetAllOptions = {}): Promise<void> {
    checkOptions("options", options, ["action"]);
    const index = await indexFor(holdfastFor(configOfAll));
    await answerOf(index.reset(options.action ?? { all: true }));
  },
};
