/** The options that every command has. */
import { Option } from "commander";
import { parseRedisUrl } from "holdfast";
import { parseDuration } from "./duration.js";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";

export interface Settings {
  readonly redisUrl: string;
  readonly prefix: string;
  /** The longest wait for an answer; undefined is as long as each kind of call has by default. */
  readonly timeoutMs: number | undefined;
  readonly json: boolean;
}

const DEFAULT_URL = "redis://127.0.0.1:6379";

export function settingOptions(): Option[] {
  return [
    new Option("--redis <url>", "the Redis or Valkey")
      .env("HOLDFAST_REDIS")
      .default(DEFAULT_URL)
      .argParser(redisUrl),
    new Option("--prefix <text>", "before every key, as in `new Holdfast(redis, { prefix })`")
      .env("HOLDFAST_PREFIX")
      .default("holdfast"),
    new Option(
      "--timeout <duration>",
      "longest wait for an answer of Redis (default: 1s, and 5s to connect)",
    ).argParser(parseDuration),
    new Option("--json", "print JSON: one document, or one line per event"),
  ];
}

export function settingsOf(options: Record<string, unknown>): Settings {
  return {
    redisUrl: String(options["redis"]),
    prefix: String(options["prefix"]),
    timeoutMs: options["timeout"] as number | undefined,
    json: options["json"] === true,
  };
}

function redisUrl(text: string): string {
  try {
    parseRedisUrl(text);
    return text;
  } catch (error) {
    // Commander would repeat the URL, and its password with it.
    throw new Failure(
      "USAGE",
      EXIT.usage,
      (error as Error).message.replace("url", "the URL of --redis or HOLDFAST_REDIS"),
    );
  }
}
