/**
 * The real scripts of holdfast on a real engine, beside the server of the mutex model: each does what the model's
 * clients do, and both must say the same and be the same.
 */
import { compileValkey, SimulatedValkey } from "@holdfast/embedded";
import { Answer, Call, type MutexPlaces, Of, Place } from "../../src/model/mutex/fields.js";
import type { Reply } from "../../src/sim/resp.js";
import { EngineClient } from "./engine-client.js";

/** A little more than half the ttl: a key outlives its last millisecond by one. */
const MOMENT_US = 1_001_000;
const TTL_MS = 2_000;
const KEEP_MS = 86_400_000;
const stem = "model:{name}:";
const keys = [`${stem}lock`, `${stem}line`, `${stem}waiters`, `${stem}gone`];

/** What the model and the engine can both say of a server. */
export interface ServerState {
  readonly holder: number;
  /** Of the lease, in moments. */
  readonly left: number;
  readonly isFlagged: boolean;
  readonly line: readonly number[];
}

async function lockScripts(): Promise<Readonly<Record<string, string>>> {
  const folder = new URL("../../../holdfast/src/locks/backends/redis/", import.meta.url);
  const names = ["take", "acquire", "beat", "renew", "release"];
  const modules = await Promise.all(names.map((name) => import(new URL(`${name}.lua.ts`, folder).href)));
  return Object.fromEntries(names.map((name, place) => [name, modules[place].script.source]));
}

export class MutexServerReal {
  readonly #scripts: Readonly<Record<string, string>>;
  readonly #valkey: SimulatedValkey;
  readonly #client: EngineClient;
  readonly #inboxes = new Map<number, EngineClient>();
  #nowUs = 1_700_000_000_000_000;
  #moment = 0;

  /** @param change what is done to the source of each script before it runs */
  static async start(change: (source: string) => string = (source) => source): Promise<MutexServerReal> {
    const scripts = Object.entries(await lockScripts()).map(([name, source]) => [name, change(source)]);
    return new MutexServerReal(Object.fromEntries(scripts), await compileValkey());
  }

  private constructor(
    scripts: Readonly<Record<string, string>>,
    module: Awaited<ReturnType<typeof compileValkey>>,
  ) {
    this.#scripts = scripts;
    this.#valkey = new SimulatedValkey({ module, trueUs: () => this.#nowUs });
    this.#client = new EngineClient(this.#valkey);
  }

  clear(): void {
    this.#client.ask(["FLUSHALL"]);
    for (const client of this.#inboxes.keys()) this.deafen(client);
    this.tick();
    this.#moment = 0;
  }

  tick(): void {
    this.#moment += 1;
    this.#nowUs = (Math.floor(this.#nowUs / MOMENT_US) + 1) * MOMENT_US;
  }

  subscribe(client: number): void {
    const inbox = new EngineClient(this.#valkey);
    inbox.ask(["SUBSCRIBE", `inbox-${client}`]);
    this.#inboxes.set(client, inbox);
  }

  deafen(client: number): void {
    this.#inboxes.get(client)?.end();
    this.#inboxes.delete(client);
  }

  /** The messages that a client got since: who was granted the name, and how old the sign of life is that is named. */
  grants(): { readonly request: number; readonly token: bigint; readonly age: number }[] {
    return [...this.#inboxes.values()].flatMap((inbox) =>
      inbox.heard().flatMap((reply) => {
        const words = String((reply as Reply[])[2]).split(" ");
        if (words[0] !== "grant") return [];
        return [
          { request: Number(words[1]), token: BigInt(words[2] ?? 0), age: this.#moment - Number(words[3]) },
        ];
      }),
    );
  }

  /** Runs a call that was sent `age` moments ago, and says what the model would. */
  run(request: number, owner: number, call: number, age: number): number {
    this.#nowUs += 10;
    const id = String(request);
    // The number of a sign of life is the moment in which it was sent; the scripts only keep it.
    const beat = String(this.#moment - age);
    switch (call) {
      case Call.take:
        return this.#take(id);
      case Call.ask:
      case Call.stand: {
        const wait = call === Call.stand ? "1" : "0";
        const inbox = `inbox-${owner}`;
        const reply = this.#eval(
          "acquire",
          keys,
          id,
          String(TTL_MS),
          "1",
          "0",
          "{}",
          wait,
          "0",
          inbox,
          beat,
          "0",
        );
        return (
          [Answer.busy, Answer.granted, Answer.inLine, Answer.unknown][(reply as number[])[0] as number] ?? -1
        );
      }
      case Call.beat: {
        const [reply] = this.#eval("beat", keys, id, beat) as number[][];
        return [-1, Answer.granted, Answer.inLine, Answer.unknown][reply?.[0] as number] ?? -1;
      }
      case Call.renew:
        return (this.#eval("renew", keys.slice(0, 1), id) as number[])[0] === 1 ? Answer.done : Answer.lost;
      default:
        this.#eval("release", keys, id, call === Call.ban ? String(TTL_MS) : "0", "0");
        return Answer.done;
    }
  }

  #take(id: string): number {
    const reply = this.#eval(
      "take",
      keys.slice(0, 1),
      `${KEEP_MS} ${TTL_MS} {}`,
      "1",
      String(KEEP_MS + TTL_MS),
      id,
    );
    if (typeof reply === "string") return Answer.granted;
    const { holder, left } = this.state();
    return holder === Number(id) && left > 0 ? Answer.granted : Answer.busy;
  }

  #eval(script: string, names: readonly string[], ...args: string[]): Reply {
    const reply = this.#client.ask([
      "EVAL",
      this.#scripts[script] ?? "",
      String(names.length),
      ...names,
      ...args,
    ]);
    if (reply instanceof Error) throw reply;
    return reply;
  }

  /** The token of the lease, and the largest one: they are the same while one is reserved at a time. */
  tokens(): readonly [held: bigint, top: bigint] {
    const state = String(this.#client.ask(["GET", keys[0] as string]) ?? "");
    return [BigInt(state.split(/[ +]/)[2] ?? 0), BigInt(state.slice(0, 16) || 0)];
  }

  state(): ServerState {
    const state = String(this.#client.ask(["GET", keys[0] as string]) ?? "");
    const [, flag = " ", id] = /^\d{16}([ +])(\d+)?/.exec(state) ?? [];
    const expiryMs = Number(this.#client.ask(["PTTL", keys[0] as string]));
    const line = this.#client.ask(["ZRANGE", keys[1] as string, "0", "-1"]) as string[];
    return {
      holder: id === undefined ? -1 : Number(id),
      left: id === undefined ? 0 : Math.ceil(Math.max(expiryMs - KEEP_MS, 0) / (MOMENT_US / 1_000)),
      isFlagged: flag === "+",
      line: line.map(Number),
    };
  }
}

export function stateOf(state: Uint8Array, places: MutexPlaces): ServerState {
  const inLine = places.owners
    .map((_, request) => ({ request, place: state[places.blockOf(request) + Of.place] as number }))
    .filter(({ place }) => place > 0)
    .sort((one, other) => one.place - other.place);
  return {
    holder: (state[Place.holder] as number) - 1,
    left: state[Place.left] as number,
    isFlagged: state[Place.flag] === 1,
    line: inLine.map(({ request }) => request),
  };
}
