/** The connection to Redis, and the calls of the application's own scripts. */
import { Holdfast, HoldfastError, IndeterminateError } from "holdfast";
import { Redis } from "ioredis";
import { brokenConstraint } from "../data/constraint.js";
import { EditRefused } from "../domain/edit-refused.js";
import { Unreachable } from "../domain/unreachable.js";
import { type BatchPart, Keys } from "./keys.js";
import {
  CHANGE_TEAMS,
  CHANGE_TEAMS_PARTS,
  COMMIT,
  COMMIT_PARTS,
  EDIT,
  EDIT_PARTS,
  LOOK,
  LOOK_PARTS,
} from "./scripts.js";

/** A call that has no answer after this time gets `Unreachable`. */
const COMMAND_TIMEOUT_MS = 3_000;
const LONGEST_RETRY_MS = 1_000;
const SHORT_BREAK_MS = 500;
/** The beginning of the error of ioredis for a call that it did not send. */
const NOT_SENT = "Stream isn't writeable";

interface Script {
  readonly text: string;
  readonly parts: readonly BatchPart[];
}

const scripts = {
  look: { text: LOOK, parts: LOOK_PARTS },
  commit: { text: COMMIT, parts: COMMIT_PARTS },
  changeTeams: { text: CHANGE_TEAMS, parts: CHANGE_TEAMS_PARTS },
  edit: { text: EDIT, parts: EDIT_PARTS },
} as const satisfies Record<string, Script>;

export type ScriptName = keyof typeof scripts;

/** What ioredis makes of `defineCommand`. */
type ScriptedRedis = Record<ScriptName, (...args: readonly string[]) => Promise<unknown>>;

export class Store {
  readonly redis: Redis;
  readonly hf: Holdfast;
  readonly keys: Keys;

  constructor(redisUrl: string, prefix: string) {
    this.redis = new Redis(redisUrl, {
      commandTimeout: COMMAND_TIMEOUT_MS,
      maxRetriesPerRequest: null,
      retryStrategy: (attempt) => Math.min(50 * attempt, LONGEST_RETRY_MS),
    });
    // A break of the connection fails the calls that need it; it must not end the process.
    this.redis.on("error", () => {});
    failSoonWhileAway(this.redis);
    for (const [name, { text, parts }] of Object.entries(scripts))
      this.redis.defineCommand(name, { lua: text, numberOfKeys: parts.length });
    this.hf = new Holdfast(this.redis, { prefix: `${prefix}:hf`, label: "dormitory", callTimeout: "2s" });
    this.keys = new Keys(prefix);
  }

  /** Runs a script on one batch. @param happened what may be so when no answer comes */
  run(
    name: ScriptName,
    batchId: string,
    args: readonly string[],
    happened: Unreachable["happened"],
  ): Promise<unknown> {
    const keys = this.keys.parts(batchId, scripts[name].parts);
    const scripted = this.redis as unknown as ScriptedRedis;
    return answered(happened, scripted[name](...keys, ...args));
  }

  async close(): Promise<void> {
    await this.hf.close();
    this.redis.disconnect();
  }
}

/** A short break keeps calls waiting. In a longer one each fails at once, so that pages say what is going on. */
function failSoonWhileAway(redis: Redis): void {
  let awaySinceMs: number | null = null;
  redis.on("ready", () => {
    awaySinceMs = null;
    redis.options.enableOfflineQueue = true;
  });
  // Each attempt to connect again ends with this event, too.
  redis.on("close", () => {
    awaySinceMs ??= performance.now();
    if (performance.now() - awaySinceMs > SHORT_BREAK_MS) redis.options.enableOfflineQueue = false;
  });
}

/** Errors of Redis that are no answer become `Unreachable`. */
export async function answered<Value>(
  happened: Unreachable["happened"],
  reply: Promise<Value>,
): Promise<Value> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof Unreachable || error instanceof EditRefused || error instanceof TypeError)
      throw error;
    if (brokenConstraint(error) !== null) throw error;
    throw new Unreachable(isCertain(error) ? "nothing" : happened, error);
  }
}

/** Whether the error says that nothing was carried out. */
function isCertain(error: unknown): boolean {
  if (error instanceof HoldfastError) return !(error instanceof IndeterminateError);
  return error instanceof Error && error.message.startsWith(NOT_SENT);
}

/** The replies of a pipeline, in order. @throws {Unreachable} */
export async function piped(
  pipeline: ReturnType<Redis["pipeline"]>,
  happened: Unreachable["happened"],
): Promise<unknown[]> {
  const replies = await answered(happened, pipeline.exec());
  return (replies ?? []).map(([error, value]) => {
    if (error) throw new Unreachable(happened, error);
    return value;
  });
}
