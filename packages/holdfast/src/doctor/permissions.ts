/**
 * Finds missing permissions: sends every command of holdfast once, to keys of a name that nobody else has. A server
 * checks permissions before anything else, so any other answer shows that the user has the permission.
 */
import { ServerError } from "../errors.js";
import { inboxChannel, signalChannel, synchronizerKey } from "../redis/keys.js";
import type { RedisPort } from "../redis/port.js";
import type { Finding } from "./report.js";
import { outcomeOf } from "./server-state.js";

/** The probes clean up after themselves, and expire where they cannot. */
const KEEP_MS = "10000";
const SCRIPT = "return 1";
const SCRIPT_SHA1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";

/** One call for each command, in an order in which every key has the type that its command needs. */
export function probes(stem: string): string[][] {
  const [text, hash, zset, set] = [`${stem}:text`, `${stem}:hash`, `${stem}:zset`, `${stem}:set`];
  return [
    ["TIME"],
    ["EVAL", SCRIPT, "1", text],
    ["EVALSHA", SCRIPT_SHA1, "1", text],
    ["SET", text, "x", "PX", KEEP_MS],
    ["GET", text],
    ["SETRANGE", text, "0", "y"],
    ["EXISTS", text],
    ["PTTL", text],
    ["PEXPIRE", text, KEEP_MS],
    ["HSET", hash, "field", "value"],
    ["PERSIST", hash],
    ["PEXPIRE", hash, KEEP_MS],
    ["HGET", hash, "field"],
    ["HMGET", hash, "field"],
    ["HGETALL", hash],
    ["HRANDFIELD", hash, "1"],
    ["HEXISTS", hash, "field"],
    ["HLEN", hash],
    ["HSTRLEN", hash, "field"],
    ["HSCAN", hash, "0"],
    ["HDEL", hash, "field"],
    ["ZADD", zset, "1", "member"],
    ["PEXPIRE", zset, KEEP_MS],
    ["ZCARD", zset],
    ["ZCOUNT", zset, "-inf", "+inf"],
    ["ZLEXCOUNT", zset, "-", "+"],
    ["ZRANGE", zset, "0", "0"],
    ["ZRANGEBYLEX", zset, "-", "+"],
    ["ZRANK", zset, "member"],
    ["ZSCORE", zset, "member"],
    ["ZREMRANGEBYSCORE", zset, "-inf", "0"],
    ["ZSCAN", zset, "0"],
    ["ZMSCORE", zset, "member"],
    ["ZREM", zset, "member"],
    ["ZPOPMIN", zset],
    ["ZPOPMAX", zset],
    ...listProbes(`${stem}:list`),
    ["SADD", set, "member"],
    ["PEXPIRE", set, KEEP_MS],
    ["SCARD", set],
    ["SREM", set, "member"],
    ["PUBLISH", `${stem}:channel`, "x"],
    ["PUBSUB", "NUMSUB"],
    ["PEXPIRE", text, "0"],
  ];
}

function listProbes(list: string): string[][] {
  return [
    ["RPUSH", list, "one"],
    ["PEXPIRE", list, KEEP_MS],
    ["LINDEX", list, "0"],
    ["LPOS", list, "one"],
    ["LSET", list, "0", "one"],
    ["LLEN", list],
    ["LRANGE", list, "0", "0"],
    ["LTRIM", list, "0", "0"],
    ["LREM", list, "0", "two"],
    ["RPOP", list],
    ["LPUSH", list, "one"],
    ["LPOP", list],
    ["DEL", list],
    ["UNLINK", list],
  ];
}

/** One channel of each kind: an inbox, which comes first; a signal; the state of an event, as those of records and others. */
export function channelsOf(prefix: string, name: string): string[] {
  return [inboxChannel(prefix, name), signalChannel(prefix, name), synchronizerKey(prefix, "event", name)];
}

export async function checkPermissions(
  port: RedisPort,
  prefix: string,
  name: string,
  timeoutMs: number,
): Promise<Finding[]> {
  const calls = probes(`${prefix}:{${name}}`).flatMap((call) =>
    call[0] === "PUBLISH" ? channelsOf(prefix, name).map((channel) => ["PUBLISH", channel, "x"]) : [call],
  );
  const outcomes = await Promise.all(
    calls.map(async (call) => ({
      command: call[0] as string,
      error: (await outcomeOf(port.command(call, timeoutMs))).error,
    })),
  );
  const refusals = outcomes.flatMap(({ command, error }) =>
    error instanceof ServerError && error.serverCode !== "NOSCRIPT" ? [{ command, error }] : [],
  );
  const denied = refusals.filter(({ error }) => error.serverCode === "NOPERM");
  const others = refusals.filter(({ error }) => error.serverCode !== "NOPERM");
  return [
    ...(denied.length > 0 ? [deniedFinding(denied, prefix)] : []),
    ...(others[0] ? [refusedFinding(others[0], others.length)] : []),
  ];
}

interface Refusal {
  readonly command: string;
  readonly error: ServerError;
}

function deniedFinding(denied: readonly Refusal[], prefix: string): Finding {
  const about = (pattern: RegExp): string[] => [
    ...new Set(denied.flatMap(({ command, error }) => (pattern.test(error.message) ? [command] : []))),
  ];
  const commands = about(/permissions to run|the '\S+' command/i);
  const missing = [
    ...(commands.length > 0 ? [`the commands ${commands.join(", ")}`] : []),
    ...(about(/access (a|one of the) keys?/i).length > 0 ? [`the keys ${prefix}:*`] : []),
    ...(about(/access (a|one of the) channels?/i).length > 0 ? [`the channels ${prefix}:*`] : []),
  ];
  return permissionFinding(missing.join(", ") || (denied[0] as Refusal).error.message);
}

export function permissionFinding(missing: string): Finding {
  return {
    code: "permissions",
    severity: "error",
    found: `this user may not use ${missing}`,
    consequence:
      "Calls that need it are refused with NOPERM: locks cannot be taken, waited for, or given back, waits for signals, events and records fail, and messages of queues and lanes cannot be pushed or taken.",
    remedy: "Give the user the ACL line of the guide to Redis, with your own prefix.",
  };
}

function refusedFinding({ command, error }: Refusal, count: number): Finding {
  return {
    code: "refused",
    severity: "error",
    found: `the server refuses ${command}${count > 1 ? ` and ${count - 1} more of the calls of holdfast` : ""}: ${error.message}`,
    consequence: error.passing
      ? "While it lasts no lock can be taken and none is renewed; those who wait go on waiting."
      : "Locks cannot be taken, and what is held may not be renewed, until somebody mends it.",
    remedy: error.remedy ?? "Look the error up in the documentation of the server.",
  };
}
