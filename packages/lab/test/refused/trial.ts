/** A call of a script on an engine of its own, with one of the commands that it sends refused. */
import { compileValkey, SimulatedValkey } from "@holdfast/embedded";
import { type Reply, ReplyError } from "../../src/sim/resp.js";
import { EngineClient } from "../engine-client.js";
import { type Contents, commandsFor, contentsOf, readContents } from "./contents.js";
import type { Call } from "./reached.js";

/** What is refused. */
export type Refusal =
  | { readonly kind: "none" }
  /** The user may not use this command. isUnasked: the server is one that cannot be asked for rights. @default false */
  | { readonly kind: "command"; readonly command: string; readonly isUnasked?: boolean }
  /** Another program owns this key. */
  | { readonly kind: "key"; readonly key: string }
  /** A value of this key is none that the library writes: the first text of a string, and of a list or hash the one in this place. */
  | { readonly kind: "value"; readonly key: string; readonly place: number }
  /** The server is full. */
  | { readonly kind: "memory" };

export interface Seen {
  /** The reply as JSON; undefined: it ended in an error. */
  readonly answer?: string;
  readonly error?: string;
  /** The commands that it sent, in their order. */
  readonly sent: readonly string[];
  readonly contents: Contents;
  readonly messages: readonly string[];
}

/**
 * Stands before a script, which is put into a function: its commands go through here. A right is missing for each call of a command and
 * for each question about it, as at a server; a key of another type refuses all commands but those that take any type.
 */
const prelude = `
local kind, what, sent, server = table.remove(ARGV, #ARGV - 1), table.remove(ARGV), {}, redis
local any = {
  DEL = 1, UNLINK = 1, EXISTS = 1, TYPE = 1, PEXPIRE = 1, EXPIRE = 1, PTTL = 1, PERSIST = 1, PUBLISH = 1, PUBSUB = 1, TIME = 1, SET = 1,
}
local function tried(command, key, ...)
  sent[#sent + 1] = command
  if kind == 'command' and command == what then
    return { err = "NOPERM User default has no permissions to run the '" .. string.lower(command) .. "' command" }
  end
  if kind == 'key' and key == what and not any[command] then
    return { err = 'WRONGTYPE Operation against a key holding the wrong kind of value' }
  end
  if key == nil then return server.pcall(command) end
  return server.pcall(command, key, ...)
end
local function call(...)
  local reply = tried(...)
  if type(reply) == 'table' and reply.err then error(reply) end
  return reply
end
local function may(command, ...)
  return not (kind == 'command' and command == what) and server.acl_check_cmd(command, ...)
end
local is_unasked = kind == 'unasked'
if is_unasked then kind = 'command' end
local redis = { call = call, pcall = tried, acl_check_cmd = not is_unasked and may or nil, sha1hex = server.sha1hex }
local function script()
`;
const epilogue = `
end
local ok, answer = pcall(script)
if ok then return { sent, 'ok', answer } end
return { sent, 'error', type(answer) == 'table' and answer.err or tostring(answer) }
`;

export class Trial {
  readonly #valkey: SimulatedValkey;
  readonly #client: EngineClient;
  readonly #listener: EngineClient;
  readonly #loaded = new Map<string, string>();
  #call: Call | undefined;

  static async create(): Promise<Trial> {
    return new Trial(
      new SimulatedValkey({ module: await compileValkey(), trueUs: () => 1_800_000_000_000_000 }),
    );
  }

  private constructor(valkey: SimulatedValkey) {
    this.#valkey = valkey;
    this.#client = new EngineClient(valkey);
    this.#listener = new EngineClient(valkey);
  }

  run(call: Call, refusal: Refusal): Seen {
    const { name, source } = call.script;
    if (this.#call !== call) {
      this.#listener.askAll([["UNSUBSCRIBE"], ["SUBSCRIBE", "nobody", ...call.channels]]);
      this.#call = call;
    }
    const { clock } = this.#valkey;
    clock.step(call.ms - clock.realUs() / 1000);
    this.#ask([["FLUSHALL"], ...commandsFor(contentsAt(call, refusal))]);
    let sha1 = this.#loaded.get(name);
    if (sha1 === undefined) {
      sha1 = String(this.#ask([["SCRIPT", "LOAD", prelude + source + epilogue]]));
      this.#loaded.set(name, sha1);
    }
    if (refusal.kind === "memory") this.#ask([["CONFIG", "SET", "maxmemory", "1"]]);
    this.#listener.take();
    const reply = this.#ask([
      ["EVALSHA", sha1, String(call.keys.length), ...call.keys, ...call.args, ...wordsOf(refusal)],
    ]);
    const messages = this.#listener.take().map((message) => JSON.stringify(message));
    if (refusal.kind === "memory") this.#ask([["CONFIG", "SET", "maxmemory", "0"]]);
    const [sent, outcome, answer] = reply as [string[], string, Reply | undefined];
    return {
      ...(outcome === "ok" ? { answer: JSON.stringify(answer ?? null) } : { error: String(answer) }),
      sent,
      contents: contentsOf(this.#ask([readContents])),
      messages,
    };
  }

  /** The answer to the last one. @throws {ReplyError} one was refused */
  #ask(commands: readonly (readonly string[])[]): Reply | undefined {
    const replies = this.#client.askAll(commands);
    for (const reply of replies) if (reply instanceof ReplyError) throw reply;
    return replies.at(-1);
  }
}

/** The two words that the prelude takes off the end of ARGV. */
function wordsOf(refusal: Refusal): [kind: string, what: string] {
  if (refusal.kind === "command") return [refusal.isUnasked ? "unasked" : "command", refusal.command];
  return [refusal.kind, refusal.kind === "key" ? refusal.key : ""];
}

/** What the server holds before the call. */
export function contentsAt({ contents }: Call, refusal: Refusal): Contents {
  if (refusal.kind !== "value") return contents;
  return contents.map((entry) => {
    if (entry.key !== refusal.key) return entry;
    return { ...entry, content: entry.content.map((text, at) => (at === refusal.place ? "?" : text)) };
  });
}
