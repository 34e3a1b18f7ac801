/**
 * Node: one server in the world: a real engine with its own clock, and the faults that servers have. Its clock is
 * `node.valkey.clock`: `step(ms)`, `rate`.
 */
import {
  MemoryFiles,
  type NodeCopy,
  type RestartWith,
  SimulatedValkey,
  type ValkeyConnection,
  type ValkeyPeer,
} from "@holdfast/embedded";
import type { Dice } from "../chance/dice.js";
import { commandsIn, encode, type Reply, ReplyReader } from "./resp.js";
import type { Stage } from "./stage.js";

export interface NodeOptions {
  /** How far its wall clock is ahead of true time. @default 0 */
  readonly offsetMs?: number;
  /** Lines of a valkey.conf. @default none */
  readonly config?: string;
  /** For how long it has been up when the world begins, as it says itself. @default 0 */
  readonly upForMs?: number;
}

/** The files of a node at some time. */
export type Disk = readonly (readonly [path: string, content: Uint8Array])[];

/** Answers a share of the commands with an error, and does not run them. */
export interface Refusal {
  /** As the server would say it: "LOADING …". Its first word decides which commands are refused: scripts always. */
  readonly error: string;
  readonly share: number;
  /** Called whenever a command was refused. */
  readonly struck?: () => void;
}

/** What a real server refuses with these words besides scripts, of all that clients send here. */
const alsoRefused: ReadonlyMap<string, readonly string[]> = new Map([
  ["NOPERM", ["SUBSCRIBE", "PING"]],
  ["BUSY", ["SUBSCRIBE", "PING"]],
  ["LOADING", ["PING"]],
  ["MISCONF", ["PING"]],
]);

const asObserver = [
  ["ACL", "SETUSER", "observer", "on", "nopass", "~*", "&*", "+@all"],
  ["AUTH", "observer", "any"],
];
/** What a script is told that may not use a command. */
const denied = "ACL failure in script";

/** How often the engine looks at its own timers. What has run out is gone for whoever reads it, noticed or not. */
const tickMs = 250;

export class Node {
  readonly name: string;
  readonly valkey: SimulatedValkey;
  /** Whether those who are connected are not told that it is gone: no power, no network. */
  isSilent = false;
  refusal: Refusal | null = null;
  /** Called with what comes in, before the engine has it. */
  heard: ((bytes: Uint8Array) => void) | null = null;
  /** True time at which it was last started again. */
  restartedMs = Number.NEGATIVE_INFINITY;
  /** Answers of scripts that met what they do not expect. */
  readonly brokenScripts: string[] = [];
  readonly #stage: Stage;
  readonly #dice: Dice;
  readonly #files = new MemoryFiles();
  #observer: Observer | null = null;
  /** Its clients may have fewer rights than all: who looks past every fault has a user of its own. */
  #hasRights = false;

  /** Made by `world.node(name)`. */
  constructor(stage: Stage, name: string, { offsetMs = 0, upForMs = 0, config }: NodeOptions = {}) {
    this.#stage = stage;
    this.name = name;
    this.#dice = stage.dice(`node ${name}`);
    this.valkey = new SimulatedValkey({
      module: stage.module,
      trueUs: () => stage.trueUs,
      seed: this.#dice.seed(),
      offsetMs: offsetMs - upForMs,
      files: this.#files,
      ...(config === undefined ? {} : { config }),
    });
    this.valkey.clock.step(upForMs);
    this.#tick();
  }

  /** True time, as the engine meets it: later than the world's after a long script. */
  get nowMs(): number {
    return this.#stage.nowMs + this.valkey.clock.busyMs;
  }

  get isUp(): boolean {
    return this.valkey.state === "running";
  }

  /** The connection of a client, or null: nobody listens. */
  accept(peer: ValkeyPeer): ValkeyConnection | null {
    return this.valkey.state === "crashed" ? null : this.valkey.connect(peer);
  }

  pump(): void {
    this.valkey.pump();
  }

  /** Sends a command past every fault, and has its reply at once; undefined: it is not up. */
  peek(...words: string[]): Reply | undefined {
    return this.peekAll(words)[0];
  }

  /** The same for several, as quick as for one; none: it is not up. */
  peekAll(...commands: readonly (readonly string[])[]): readonly Reply[] {
    if (!this.isUp) return [];
    if (!this.#observer?.isOpen) {
      this.#observer = new Observer(this.valkey);
      if (this.#hasRights) this.#observer.ask(asObserver, () => this.pump());
    }
    return this.#observer.ask(commands, () => this.pump());
  }

  /** Refuses this command to every client, in scripts as well, until `allow()`. */
  forbid(command: string): void {
    if (!this.#hasRights) this.peekAll(...asObserver);
    this.#hasRights = true;
    this.peek("ACL", "SETUSER", "default", `-${command}`);
  }

  allow(): void {
    if (this.#hasRights) this.peek("ACL", "SETUSER", "default", "+@all");
  }

  pause(): void {
    this.valkey.pause();
  }

  resume(): void {
    this.valkey.resume();
  }

  /** @param how "silent": those who are connected are not told before it is up again */
  crash(how: "loud" | "silent" = "loud"): void {
    this.isSilent = how === "silent";
    this.valkey.crash();
  }

  /** Writes all its data to its disk, and returns a copy of that; null: it is not up. */
  save(): Disk | null {
    return this.peek("SAVE") === "OK" ? this.#files.entries() : null;
  }

  /** Starts again with the data of a disk that it saved before. Keys whose time has passed meanwhile are gone. */
  restartFrom(disk: Disk): void {
    this.#files.replace(disk);
    this.restart({ keep: "files" });
  }

  /** Starts again, after a crash or from a running engine. */
  restart(restartWith: RestartWith = { keep: "nothing" }): void {
    this.valkey.restart(restartWith);
    this.restartedMs = this.#stage.nowMs;
    this.isSilent = false;
  }

  /** Takes a copy that `rollback` can go back to, and that `promote` can take. */
  remember(): NodeCopy {
    return this.valkey.remember();
  }

  /** Falls back to a remembered state that is at least `deltaMs` old. */
  rollback(deltaMs: number): void {
    this.valkey.rollback(deltaMs);
    this.isSilent = false;
  }

  /** A replica that had come as far as `copy` takes its place, with a clock of its own. */
  promote(copy: NodeCopy, offsetMs = 0): void {
    this.valkey.promote(copy, { offsetMs });
    this.isSilent = false;
  }

  /** What the engine gets of what came in. Called by the network. */
  inspect(bytes: Uint8Array): Uint8Array {
    this.heard?.(bytes);
    const { refusal } = this;
    if (!refusal) return bytes;
    const others = alsoRefused.get(refusal.error.split(" ", 1)[0] ?? "") ?? [];
    const parts = [...commandsIn(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))].map(
      (command) => {
        const isMeant = command.word.startsWith("EVAL") || others.includes(command.word);
        if (!isMeant || !this.#dice.chance(refusal.share)) return command.bytes;
        refusal.struck?.();
        return encode(["EVAL", "return redis.error_reply(ARGV[1])", "0", refusal.error]);
      },
    );
    return Buffer.concat(parts);
  }

  /** Sees what the engine answers. Called by the network. */
  overhear(bytes: Uint8Array): void {
    const answer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (!answer.includes("-ERR ") && !answer.includes("-WRONGTYPE ")) return;
    const found = /^-(ERR .*user_script|WRONGTYPE ).*$/m.exec(answer.toString("latin1"));
    if (found && !found[0].includes(denied)) this.brokenScripts.push(found[0].trim());
  }

  #tick(): void {
    const about = { owner: null, kind: "other", quiet: true } as const;
    const tick = (): void => {
      this.pump();
      this.#tick();
    };
    this.#stage.events.add(this.#stage.nowMs + tickMs, tick, about);
  }
}

/** A client without a network. */
class Observer implements ValkeyPeer {
  readonly #connection: ValkeyConnection;
  readonly #reader = new ReplyReader();
  #replies: Reply[] = [];

  constructor(valkey: SimulatedValkey) {
    this.#connection = valkey.connect(this);
  }

  get isOpen(): boolean {
    return !this.#connection.isClosed;
  }

  receive(bytes: Uint8Array): void {
    this.#replies.push(...this.#reader.read(bytes));
  }

  ask(commands: readonly (readonly string[])[], pump: () => void): readonly Reply[] {
    this.#replies = [];
    for (const words of commands) this.#connection.push(encode(words));
    pump();
    return this.#replies;
  }
}
