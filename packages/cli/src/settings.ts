/** The options that every command has, and those of a Redlock. */
import { Option } from "commander";
import { parseRedisUrl } from "holdfast";
import { parseDuration } from "./duration.js";
import { EXIT } from "./exit-codes.js";
import { Failure } from "./failure.js";

export interface Settings {
  /** One; or several, the servers of a Redlock. */
  readonly redisUrls: readonly string[];
  readonly prefix: string;
  /** The longest wait for an answer; undefined is as long as each kind of call has by default. */
  readonly timeoutMs: number | undefined;
  readonly json: boolean;
  /** As `new Redlock` has them. */
  readonly maxTtlMs: number | undefined;
  readonly quarantineMs: number | undefined;
}

/** An empty variable says nothing: it is as one that is not set, also to a holdfast in the command that this one runs. */
function fromEnvironment(option: Option, name: string): Option {
  if (process.env[name] === "") delete process.env[name];
  return option.env(name);
}

const DEFAULT_URLS = ["redis://127.0.0.1:6379"];

export function settingOptions(): Option[] {
  return [
    fromEnvironment(
      new Option("--redis <url>", "the Redis or Valkey; several times: the servers of a Redlock"),
      "HOLDFAST_REDIS",
    )
      .default(DEFAULT_URLS, DEFAULT_URLS[0])
      .argParser(redisUrls),
    fromEnvironment(
      new Option("--prefix <text>", "before every key, as in `new Holdfast(redis, { prefix })`"),
      "HOLDFAST_PREFIX",
    ).default("holdfast"),
    new Option(
      "--timeout <duration>",
      "longest wait for an answer of Redis (default: 1s, and 5s to connect)",
    ).argParser(parseDuration),
    new Option("--json", "print JSON: one document, or one line per event"),
  ];
}

/** For commands that also work over several servers, as the next one. */
export const maxTtlOption = (): Option =>
  new Option(
    "--max-ttl <duration>",
    "over several servers: the longest ttl of any lock, the same for all (default: 1m)",
  ).argParser(parseDuration);

export const quarantineOption = (): Option =>
  new Option(
    "--quarantine <duration>",
    "over several servers: how long one does not vote after its start (default: --max-ttl)",
  ).argParser(parseDuration);

/** @throws {Failure} with exit code 64 */
export function settingsOf(options: Record<string, unknown>): Settings {
  const settings = {
    redisUrls: [options["redis"]].flat().map(String),
    prefix: String(options["prefix"]),
    timeoutMs: options["timeout"] as number | undefined,
    json: options["json"] === true,
    maxTtlMs: options["maxTtl"] as number | undefined,
    quarantineMs: options["quarantine"] as number | undefined,
  };
  const { redisUrls, maxTtlMs, quarantineMs } = settings;
  if (redisUrls.length === 1 && (maxTtlMs !== undefined || quarantineMs !== undefined))
    throw usage("--max-ttl and --quarantine are for several servers: give more than one --redis");
  return settings;
}

/** Each is a word of the text: HOLDFAST_REDIS has several behind each other. */
function redisUrls(text: string, before: readonly string[]): readonly string[] {
  const urls = before === DEFAULT_URLS ? [] : [...before];
  for (const url of text.split(" ")) {
    const { host, port } = parsed(url);
    if (urls.map(parsed).some((other) => other.host === host && other.port === port))
      throw usage(`the server ${host}:${port} is named twice: each server of a Redlock has one vote`);
    urls.push(url);
  }
  return urls;
}

function parsed(url: string): ReturnType<typeof parseRedisUrl> {
  try {
    return parseRedisUrl(url);
  } catch (error) {
    // Commander would repeat the URL, and its password with it.
    throw usage((error as Error).message.replace("url", "the URL of --redis or HOLDFAST_REDIS"));
  }
}

function usage(message: string): Failure {
  return new Failure("USAGE", EXIT.usage, message);
}
