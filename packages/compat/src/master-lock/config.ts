/** The gem's settings. Times are in seconds and may have fractions, as there. */
import { hostname } from "node:os";
import { type Clock, InvalidArgumentError, type RedisClientLike, systemClock } from "holdfast";

/** The receiver of the log lines of MasterLock. `console` is one. */
export interface Logger {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
}

export interface Config {
  /** Longest wait for a lock, in seconds. 0 or less is one try. @default 5 */
  acquireTimeout: number;
  /** Seconds between two renewals, of `Registry.extendLocks`. `synchronize` only checks it. @default 15 */
  extendInterval: number;
  /** The name of this machine in the records of its locks. @default the name of the host */
  hostname: string;
  /** The receiver of log lines. @default lines on standard output */
  logger: Logger;
  /** Before every key: the prefix of the Holdfast underneath. @default "masterlock" */
  keyPrefix: string;
  /** The client. Required. @default null */
  redis: RedisClientLike | null;
  /** Was the tick of the gem's renewal thread. There is none here, so it has no effect. @default 5 */
  sleepTime: number;
  /** Seconds until a lock ends whose process has died. 0.1 or more. @default 60 */
  ttl: number;
}

export const DEFAULT_ACQUIRE_TIMEOUT = 5;
export const DEFAULT_EXTEND_INTERVAL = 15;
export const DEFAULT_KEY_PREFIX = "masterlock";
export const DEFAULT_SLEEP_TIME = 5;
export const DEFAULT_TTL = 60;

export function defaultConfig(): Config {
  return {
    acquireTimeout: DEFAULT_ACQUIRE_TIMEOUT,
    extendInterval: DEFAULT_EXTEND_INTERVAL,
    hostname: hostname(),
    logger: stdoutLogger(systemClock),
    keyPrefix: DEFAULT_KEY_PREFIX,
    redis: null,
    sleepTime: DEFAULT_SLEEP_TIME,
    ttl: DEFAULT_TTL,
  };
}

function stdoutLogger(clock: Clock): Logger {
  const write = (level: string) => (line: string) => {
    const at = new Date(clock.now().wallMs).toISOString();
    process.stdout.write(`${at} #${process.pid} ${level} MasterLock: ${line}\n`);
  };
  return { debug: write("DEBUG"), info: write("INFO"), warn: write("WARN") };
}

const SHORTEST_TTL_S = 0.1;
const LONGEST_TTL_S = 2_147_483;

/** @throws {InvalidArgumentError} the ttl is too long or too short for a lock */
export function ttlInMs(ttl: number): number {
  if (!(ttl >= SHORTEST_TTL_S && ttl <= LONGEST_TTL_S)) {
    throw new InvalidArgumentError(
      "ttl",
      `must be ${SHORTEST_TTL_S} to ${LONGEST_TTL_S} seconds, not ${ttl}`,
    );
  }
  return inMs("ttl", ttl);
}

/** Whole milliseconds, rounded down as the gem does. */
export function inMs(argument: string, seconds: number): number {
  if (typeof seconds !== "number" || Number.isNaN(seconds)) {
    throw new InvalidArgumentError(argument, "must be a number of seconds");
  }
  // 1.001 * 1000 is 1000.9999999999999: corrected before it is rounded down.
  return Math.floor(Number((seconds * 1_000).toFixed(6)));
}
