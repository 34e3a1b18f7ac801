/** The scripts of lanes on the real engine in virtual time: any number of processes, each with its inbox. */
import { compileValkey, SimulatedValkey, type ValkeyConnection } from "@holdfast/embedded";
import type { Given } from "../../src/deliveries/delivery-scripts.js";
import { Operations } from "../../src/deliveries/operations.js";
import { ServerError } from "../../src/errors.js";
import { laneCalls } from "../../src/lanes/lane-calls.js";
import { LaneControl } from "../../src/lanes/lane-control.js";
import { LaneScripts } from "../../src/lanes/lane-scripts.js";
import type { LanesSettings } from "../../src/lanes/settings.js";
import { inboxChannel } from "../../src/redis/keys.js";
import { readWords } from "../../src/redis/message.js";
import type { RedisPort, Reply } from "../../src/redis/port.js";
import type { Script } from "../../src/redis/script.js";
import { askThrough } from "../ask-through.js";

const DAWN_US = 1_800_000_000_000_000;
const PREFIX = "t";

type Answer = number | string | null | Answer[] | Error;

export class LaneLab {
  readonly valkey: SimulatedValkey;
  /** True time. */
  trueUs = DAWN_US;
  readonly #main: Wire;

  static async start(): Promise<LaneLab> {
    return new LaneLab(await compileValkey());
  }

  constructor(module: Awaited<ReturnType<typeof compileValkey>>) {
    this.valkey = new SimulatedValkey({ module, trueUs: () => this.trueUs });
    this.#main = this.wire();
  }

  wire(): Wire {
    return new Wire(this.valkey);
  }

  command(...words: (string | number)[]): Answer {
    return this.#main.call(words.map(String));
  }

  pass(ms: number): void {
    this.trueUs += Math.round(ms * 1_000);
    this.valkey.pump();
  }

  /** Every key that exists, sorted, but for the list of processes that were heard of, which ends by itself. */
  keys(): string[] {
    return (this.command("KEYS", "*") as string[]).filter((key) => !key.endsWith(":heard")).sort();
  }

  /** Another process, which listens to its inbox. */
  open(id: string, name: string, settings: Partial<LanesSettings> = {}): LaneProcess {
    return new LaneProcess(this, id, name, settings);
  }
}

const PLAIN: LanesSettings = {
  inFlight: 1,
  whenFailed: "park",
  maxAttempts: 5,
  maxLength: Number.POSITIVE_INFINITY,
  deadlineMs: 30_000,
  maxBytes: 262_144,
  keepDead: 100,
  keepResultsMs: 60_000,
  rate: null,
};

let count = 0;

/** A process, with what was given to it and not settled. */
export class LaneProcess {
  readonly id: string;
  readonly scripts: LaneScripts;
  readonly control: LaneControl;
  readonly operations: Operations;
  /** Gifts in the order in which they came; a word alone is null. */
  readonly gifts: (Given | null)[] = [];
  seq = 0;
  readonly #lab: LaneLab;
  readonly #ears: Wire;

  constructor(lab: LaneLab, id: string, name: string, settings: Partial<LanesSettings>) {
    this.id = id;
    this.#lab = lab;
    const channel = inboxChannel(PREFIX, id);
    this.#ears = lab.wire();
    this.#ears.listen(channel, (message) => {
      const [verb, , handle, ...words] = readWords(message);
      if (verb !== "lanes") throw new Error(`another message: ${message}`);
      this.gifts.push(handle === undefined ? null : { handle, body: words.join(" ") });
    });
    const port = new EnginePort(lab.wire());
    const random = { fraction: () => 0.5, id: () => `memory-${id}-${count++}` };
    const context = { port, prefix: PREFIX, callTimeoutMs: 1_000, random, inbox: { channel, up: true } };
    const calls = laneCalls(context, name, { ...PLAIN, ...settings }, random.id());
    this.scripts = new LaneScripts(calls, PLAIN.deadlineMs);
    this.control = new LaneControl(calls);
    this.operations = new Operations(calls, (args) => this.control.redriveStep(args));
  }

  async push(...pushes: (readonly [string, string])[]): Promise<readonly number[]> {
    this.seq += 1;
    const { pushed } = await this.scripts.push(
      this.seq,
      pushes.map(([lane, body]) => ({ lane, body })),
    );
    return pushed.map(({ number }) => number ?? 0);
  }

  async take(want: number, acks: readonly string[] = []): Promise<readonly Given[]> {
    this.seq += 1;
    const { given } = await this.scripts.take({
      seq: this.seq,
      acks: acks.map((handle) => ({ handle })),
      want,
    });
    return given;
  }

  async ack(...handles: string[]): Promise<readonly string[]> {
    this.seq += 1;
    const acks = handles.map((handle) => ({ handle }));
    return (await this.scripts.take({ seq: this.seq, acks, want: 0 })).late;
  }

  back(handle: string, { delayMs = 0, isAttempt = true, reason = "no" } = {}): Promise<readonly string[]> {
    this.seq += 1;
    return this.scripts.back(this.seq, [{ handle, delayMs, isAttempt, reason }]);
  }

  /** Its connection is gone: it hears nothing, and everybody can see that. */
  die(): void {
    this.#ears.close();
    this.#lab.valkey.pump();
  }
}

export const bodies = (given: readonly { readonly body: string }[]): string[] =>
  given.map(({ body }) => body);
export const handles = (given: readonly Given[]): string[] => given.map(({ handle }) => handle);

/** Takes one, which must be there. */
export async function one(process: LaneProcess, ...acks: string[]): Promise<Given> {
  const [given] = await process.take(1, acks);
  if (!given) throw new Error("nothing was given");
  return given;
}

class Wire {
  readonly #valkey: SimulatedValkey;
  readonly #connection: ValkeyConnection;
  #bytes = "";
  #heard: ((text: string) => void) | null = null;

  constructor(valkey: SimulatedValkey) {
    this.#valkey = valkey;
    this.#connection = valkey.connect({
      receive: (bytes) => {
        this.#bytes += Buffer.from(bytes).toString("latin1");
        if (this.#heard) this.#hear();
      },
      closed() {},
    });
  }

  call(words: readonly string[]): Answer {
    this.#bytes = "";
    this.#send(words);
    return read(this.#bytes, 0)[0];
  }

  listen(channel: string, heard: (text: string) => void): void {
    this.#heard = heard;
    this.#send(["SUBSCRIBE", channel]);
  }

  close(): void {
    this.#connection.vanish();
  }

  #send(words: readonly string[]): void {
    const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
    this.#connection.push(Buffer.from(`*${words.length}\r\n${parts.join("")}`));
    this.#valkey.pump();
  }

  #hear(): void {
    while (this.#bytes !== "") {
      const [message, next] = read(this.#bytes, 0);
      this.#bytes = this.#bytes.slice(next);
      if (Array.isArray(message) && message[0] === "message") this.#heard?.(String(message[2]));
    }
  }
}

class EnginePort implements RedisPort {
  readonly trouble = null;
  readonly writes = 0;
  readonly disruptions = 0;
  readonly unavailable = (): null => null;
  readonly zeroListenersMeansGone = true;
  readonly reportsBreaks = true;
  readonly ask = askThrough(this);
  readonly #wire: Wire;
  readonly #known = new Set<string>();

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  slotOf(): number {
    return 0;
  }

  async script(script: Script, keys: readonly string[], args: readonly string[]): Promise<Reply> {
    if (!this.#known.has(script.sha1)) this.#wire.call(["SCRIPT", "LOAD", script.source]);
    this.#known.add(script.sha1);
    return this.command(["EVALSHA", script.sha1, String(keys.length), ...keys, ...args]);
  }

  async command(words: readonly string[]): Promise<Reply> {
    const answer = this.#wire.call(words);
    if (answer instanceof Error) throw new ServerError(answer.message);
    return answer as Reply;
  }

  openMessages(): never {
    throw new Error("the lab listens by itself");
  }

  async close(): Promise<void> {}
}

/** The first answer at `from`, and where the next one begins. */
function read(text: string, from: number): [Answer, number] {
  const end = text.indexOf("\r\n", from);
  const line = text.slice(from + 1, end);
  const next = end + 2;
  if (text[from] === ":") return [Number(line), next];
  if (text[from] === "+") return [line, next];
  if (text[from] === "-") return [new Error(line), next];
  const length = Number(line);
  if (length < 0 || text[from] === "_") return [null, next];
  if (text[from] === "$") {
    const bytes = Buffer.from(text.slice(next, next + length), "latin1");
    return [bytes.toString(), next + length + 2];
  }
  const items: Answer[] = [];
  let at = next;
  for (let place = 0; place < length; place++) {
    const [item, after] = read(text, at);
    items.push(item);
    at = after;
  }
  return [items, at];
}
