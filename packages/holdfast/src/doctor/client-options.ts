/** Options of the user's client that make calls hang or repeat. Read by shape, as clients are detected. */
import type { Finding } from "./report.js";

type Options = Readonly<Record<string, unknown>>;

/** @param client What was given to `new Holdfast()`; a URL leaves nothing to look at. */
export function checkClient(client: unknown, callTimeoutMs: number): Finding[] {
  if (typeof client !== "object" || client === null) return [];
  const options = optionsOf(client);
  const has = (name: string): boolean => typeof (client as Options)[name] === "function";
  if (has("defineCommand")) return checkIoredis(client as Options, options, callTimeoutMs);
  if (has("customCommand")) return checkGlide(client as Options, callTimeoutMs);
  if (has("sendCommand")) return checkNodeRedis(client as Options, options, callTimeoutMs);
  return [];
}

function optionsOf(client: object): Options {
  const { options } = client as { options?: unknown };
  return typeof options === "object" && options !== null ? (options as Options) : {};
}

function checkIoredis({ status }: Options, options: Options, callTimeoutMs: number): Finding[] {
  const { commandTimeout, keyPrefix } = options;
  const limited = typeof commandTimeout === "number" && commandTimeout > 0;
  return [
    ...(status === "end" ? [closed()] : []),
    ...(typeof options.retryStrategy === "function" ? [] : [noReconnect("retryStrategy")]),
    ...(limited
      ? shorterLimit("commandTimeout", commandTimeout, callTimeoutMs)
      : [hangs("no commandTimeout", callTimeoutMs, "Set commandTimeout")]),
    ...(Number(options.socketTimeout) > 0 ? [] : [silent("Set socketTimeout")]),
    ...(options.autoResendUnfulfilledCommands === false ? [] : [repeats()]),
    ...(options.enableOfflineQueue === false ? [] : [queues("enableOfflineQueue: false")]),
    ...(typeof keyPrefix === "string" && keyPrefix !== "" ? [prefixed(keyPrefix)] : []),
  ];
}

function checkNodeRedis({ isOpen }: Options, options: Options, callTimeoutMs: number): Finding[] {
  const socket = (options.socket ?? {}) as Options;
  return [
    ...(isOpen === false ? [closed()] : []),
    ...(socket.reconnectStrategy === false ? [noReconnect("socket.reconnectStrategy")] : []),
    hangs(
      "no limit for a command that was sent; its timeout counts for those still queued",
      callTimeoutMs,
      "Race them against a timer",
    ),
    silent(MADE_ANEW),
    ...(options.disableOfflineQueue === true ? [] : [queues("disableOfflineQueue: true")]),
  ];
}

function checkGlide({ isClosed, requestTimeout }: Options, callTimeoutMs: number): Finding[] {
  return [
    ...(isClosed === true ? [closed()] : []),
    ...(typeof requestTimeout === "number"
      ? shorterLimit("requestTimeout", requestTimeout, callTimeoutMs)
      : []),
    silent(MADE_ANEW),
  ];
}

function closed(): Finding {
  return {
    code: "client-closed",
    severity: "error",
    found: "the client is closed",
    consequence: "No call reaches the server.",
    remedy: "Connect it, or make a new one, before it is given to Holdfast.",
  };
}

function noReconnect(option: string): Finding {
  return {
    code: "client-reconnect",
    severity: "warning",
    found: `the client does not reconnect (${option})`,
    consequence:
      "After the first break of the connection nothing is renewed: every lease ends, and no lock can be taken.",
    remedy: `Give ${option} a function that returns a delay in ms.`,
  };
}

function hangs(found: string, callTimeoutMs: number, remedy: string): Finding {
  return {
    code: "client-hangs",
    severity: "info",
    found: `the client has ${found}`,
    consequence: `Calls of holdfast end after ${callTimeoutMs} ms (callTimeout) whatever the client does; your own calls on this client wait for a silent server for ever.`,
    remedy: `${remedy}, if your own calls must end.`,
  };
}

/** Of clients that have no option for it. */
const MADE_ANEW = "Give Holdfast a URL: it makes such a connection of its own anew";

function silent(remedy: string): Finding {
  return {
    code: "client-silent",
    severity: "info",
    found: "the client keeps a half-open connection",
    consequence: "Where the other end drops it without a word, calls get no answer for minutes.",
    remedy: `${remedy}.`,
  };
}

function shorterLimit(option: string, timeoutMs: number, callTimeoutMs: number): Finding[] {
  if (timeoutMs >= callTimeoutMs) return [];
  return [
    {
      code: "client-limit",
      severity: "info",
      found: `the client's ${option} is ${timeoutMs} ms, shorter than callTimeout (${callTimeoutMs} ms)`,
      consequence: `Calls of holdfast end as unknown after ${timeoutMs} ms.`,
      remedy: `Set ${option} and callTimeout to the same, so that both say what is meant.`,
    },
  ];
}

function repeats(): Finding {
  return {
    code: "client-repeats",
    severity: "info",
    found:
      "the client sends a command again when the connection broke before its answer (autoResendUnfulfilledCommands)",
    consequence:
      "Calls of holdfast bear that. An INCR or LPUSH of your own on this client may be carried out twice.",
    remedy: "Set autoResendUnfulfilledCommands: false, if your own calls must not be repeated.",
  };
}

function queues(option: string): Finding {
  return {
    code: "client-queue",
    severity: "info",
    found: "the client keeps commands while it is not connected, and sends them later (offline queue)",
    consequence:
      "Calls of holdfast do not wait there. Calls of your own are carried out although their caller may have given up.",
    remedy: `Set ${option}, if your own calls must not be carried out late.`,
  };
}

function prefixed(keyPrefix: string): Finding {
  return {
    code: "client-key-prefix",
    severity: "info",
    found: `the client writes '${keyPrefix}' before every key (keyPrefix)`,
    consequence: "Only processes whose clients do the same share locks, and an ACL must allow keys with it.",
    remedy: "Use the same keyPrefix everywhere, or none and the option prefix of Holdfast.",
  };
}
