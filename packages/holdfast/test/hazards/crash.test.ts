/** A server that dies in the middle: its append-only file has all of a script or nothing. In virtual time. */
import {
  compileValkey,
  MemoryFiles,
  SimulatedValkey,
  type ValkeyConnection,
  type ValkeyModule,
} from "@holdfast/embedded";
import { expect, test } from "vitest";
import { callsOf, type ScriptCall } from "./scripts-at-hand.js";

const CONTENTS = `
  local rows = {}
  for _, key in ipairs(redis.call('KEYS', '*')) do
    rows[#rows + 1] = key .. ' ' .. redis.sha1hex(redis.call('DUMP', key))
  end
  table.sort(rows)
  return table.concat(rows, '\\n')`;

/** A server with an append-only file. */
class FileServer {
  readonly #files: MemoryFiles;
  readonly #valkey: SimulatedValkey;
  readonly #connection: ValkeyConnection;
  #answer = "";

  constructor(module: ValkeyModule, files = new MemoryFiles()) {
    const config = "appendonly yes\nappendfsync always";
    this.#files = files;
    this.#valkey = new SimulatedValkey({ module, trueUs: () => 1_800_000_000_000_000, files, config });
    const receive = (bytes: Uint8Array): void => {
      this.#answer += Buffer.from(bytes).toString("latin1");
    };
    this.#connection = this.#valkey.connect({ receive });
  }

  /** The answer as it came. */
  ask(...words: readonly string[]): string {
    this.#answer = "";
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    this.#connection.push(Buffer.from(`*${words.length}\r\n${parts.join("")}`));
    this.#valkey.pump();
    return this.#answer;
  }

  /** What the keys hold, as one value. */
  get contents(): string {
    return this.ask("EVAL", CONTENTS, "0");
  }

  get #log(): string {
    return this.#files.paths().find((path) => path.endsWith(".incr.aof")) as string;
  }

  get written(): number {
    return this.#files.read(this.#log)?.length ?? 0;
  }

  /** What is there after a crash that left so many bytes of the file. */
  contentsAfterCrash(module: ValkeyModule, bytes: number): string {
    const files = new MemoryFiles(this.#files.entries());
    files.write(this.#log, (files.read(this.#log) as Uint8Array).slice(0, bytes));
    return new FileServer(module, files).contents;
  }
}

/** Every state in which the steps leave the server, and every one in which a crash leaves it. */
async function crashes(steps: readonly (readonly string[])[]) {
  const module = await compileValkey();
  const server = new FileServer(module);
  const states = [server.contents];
  for (const step of steps) {
    expect(server.ask(...step)).not.toMatch(/^-/);
    states.push(server.contents);
  }
  const everyBytes = Math.ceil(server.written / 60);
  const found: string[] = [];
  for (let bytes = 0; bytes <= server.written; bytes += everyBytes)
    found.push(server.contentsAfterCrash(module, bytes));
  return { states: new Set(states), found };
}

test("two commands without a script are cut in half by a crash [breaks H52]", async () => {
  const { found } = await crashes([
    ["SETNX", "it", "a"],
    ["EXPIRE", "it", "10"],
    ["SET", "owner", "a"],
  ]);
  expect(found.some((state) => state.includes("it ") && !state.includes("owner "))).toBe(true);
});

test("a crash at any command: the file has all of a script or nothing [H52]", async () => {
  const steps = [
    ["a", "acquire"],
    ["b", "acquire and wait"],
    ["c", "acquire and wait"],
    ["a", "release and ban"],
    ["b", "acquire and wait"],
    ["b", "force-release"],
  ] as const;
  const { states, found } = await crashes(
    steps.map(([who, title]) => {
      const { source, keys, args } = callsOf(who).find((call) => call.title === title) as ScriptCall;
      return ["EVAL", source, String(keys.length), ...keys, ...args];
    }),
  );
  expect(states.size).toBeGreaterThan(4);
  expect(new Set(found).size).toBeGreaterThan(4);
  for (const state of found) expect(states).toContain(state);
});
