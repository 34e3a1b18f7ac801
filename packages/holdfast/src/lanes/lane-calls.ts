/** LaneCalls: how the scripts of the lanes of one name are called. Lanes are percent-encoded in Redis. */

import { type Whereabouts, whereaboutsOf } from "../deliveries/delivery-scripts.js";
import { IndeterminateError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import { laneKeys, laneListKey, laneResultKey } from "../redis/keys.js";
import type { Reply } from "../redis/port.js";
import type { Script } from "../redis/script.js";

/** The options of lanes that the scripts know. Redis keeps the last ones that a process gave. */
export interface LaneScriptSettings {
  readonly inFlight: number;
  readonly whenFailed: "park" | "skip" | "dead-letter";
  /** Infinity: no bound. */
  readonly maxAttempts: number;
  /** Of each lane. Infinity: no bound. */
  readonly maxLength: number;
  readonly keepDead: number;
  readonly keepResultsMs: number;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  /** Deliveries of each lane; null: no bound. */
  readonly rate: { readonly max: number; readonly perMs: number } | null;
}

export type LaneContext = Pick<RedisContext, "port" | "prefix" | "callTimeoutMs"> & {
  readonly inbox: Pick<RedisContext["inbox"], "channel">;
};

const KEY_NAMES = [
  "about",
  "rec",
  "ready",
  "off",
  "away",
  "idle",
  "later",
  "again",
  "cancelled",
  "held",
  "dead",
  "letters",
] as const;

export type LaneKey = (typeof KEY_NAMES)[number];

export class LaneCalls {
  readonly name: string;
  readonly process: string;
  readonly memory: string;
  /** As lanes/lua/_lanes.lua reads them; empty: those that the lanes have. */
  readonly settings: string;
  readonly firstLeaseMs: number;
  readonly address: Whereabouts["address"];
  readonly #context: LaneContext;
  readonly #keys: Readonly<Record<LaneKey, string>>;

  /** @param settings null: those that the lanes have @param memory under which the server remembers the last requests that have a number */
  constructor(context: LaneContext, name: string, settings: LaneScriptSettings | null, memory = "") {
    const { prefix } = context;
    const { process, firstLeaseMs, address } = whereaboutsOf(context, name);
    const keys = laneKeys(prefix, name);
    this.name = name;
    this.#context = context;
    this.#keys = Object.fromEntries(KEY_NAMES.map((key, place) => [key, keys[place]])) as Record<
      LaneKey,
      string
    >;
    this.settings = settings === null ? "" : settingsText(settings);
    this.process = process;
    this.firstLeaseMs = firstLeaseMs;
    this.address = address;
    this.memory = memory;
  }

  /** Of the messages that wait in a lane. */
  listKey(lane: string): string {
    return laneListKey(this.#context.prefix, this.name, lane);
  }

  /** The channel and the key of an outcome. */
  resultKey(ticket: string): string {
    return laneResultKey(this.#context.prefix, this.name, ticket);
  }

  /** Calls a script with the first `keys` keys of the lanes, or with these. */
  async run(
    script: Script,
    keys: number | readonly LaneKey[],
    args: readonly string[],
    timeoutMs = this.#context.callTimeoutMs,
    more: readonly string[] = [],
  ): Promise<Reply> {
    const names = typeof keys === "number" ? KEY_NAMES.slice(0, keys) : keys;
    const all = [...names.map((key) => this.#keys[key]), ...more];
    const reply = await this.#context.port.script(script, all, args, timeoutMs);
    if (reply === "forgotten" || (Array.isArray(reply) && reply[0] === "forgotten")) {
      throw new IndeterminateError(
        `a copy of a request to the lanes '${this.name}' came too late for its answer`,
      );
    }
    return reply;
  }
}

/** As lanes/lua/_lanes.lua reads it. */
function settingsText(settings: LaneScriptSettings): string {
  const { inFlight, whenFailed, maxAttempts, maxLength, keepDead, keepResultsMs, rate } = settings;
  const finite = (count: number): string => (Number.isFinite(count) ? String(count) : "0");
  const failed = { park: "p", skip: "s", "dead-letter": "d" }[whenFailed];
  const rates = rate ? [String(rate.max), String(Math.ceil(rate.perMs * 1_000))] : ["0", "0"];
  const times = [keepResultsMs, settings.deadlineMs].map((ms) => String(Math.ceil(ms)));
  const rest = [finite(maxLength), "r", String(keepDead), ...times, String(settings.maxBytes)];
  return [String(inFlight), failed, finite(maxAttempts), ...rates, ...rest].join(" ");
}
