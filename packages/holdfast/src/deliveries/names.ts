/**
 * Names: what one process knows of each queue, or of the lanes of each name. The options that a program gave, and the numbers of its
 * requests, stay for good. The core of a name, which works for it, stays for as long as there is something to do, and a while longer: a program may
 * have a name for each of its users. Names also passes on the messages of the inbox.
 */
import { checkLockName } from "../arguments.js";
import { ClosedError } from "../errors.js";
import type { RedisContext } from "../redis/context.js";
import type { DeliveryKind } from "../redis/keys.js";
import type { Intake } from "./intake.js";
import type { Lasting } from "./lasting.js";

/** What the core of a queue and that of lanes have in common. All objects for the name in this process share it. */
export interface Parts {
  readonly intake: Intake;
  readonly producer: { readonly isIdle: boolean; close(): Promise<void> };
  /** Further work; absent: none. */
  readonly watches?: { readonly isIdle: boolean };
}

/** How a noun makes its parts. */
export interface Noun<Settings, Core extends Parts> {
  /** Of the messages about its names. */
  readonly verb: DeliveryKind;
  make(named: Named<Settings, Core>): Core;
}

/** As many cores are kept although they have nothing to do. */
const MOST_IDLE = 100;

export class Named<Settings, Core extends Parts> {
  readonly name: string;
  readonly settings: Settings;
  /** Under this id the server remembers the last requests. Each process has its own, because each counts its requests from 1. */
  readonly memory: string;
  readonly lasting: Lasting = { pushes: { last: 0 }, requests: { last: 0 }, spent: null };
  readonly #names: Names<Settings, Core>;
  #core: Core | null = null;

  constructor(names: Names<Settings, Core>, name: string, settings: Settings, memory: string) {
    this.#names = names;
    this.name = name;
    this.settings = settings;
    this.memory = memory;
  }

  /** To be used at once: a core that does nothing is let go when the code that runs now has ended. */
  get core(): Core {
    this.#core ??= this.#names.open(this);
    return this.#core;
  }

  /** Null: there is nothing to do. */
  get working(): Core | null {
    return this.#core;
  }

  /** Lets the core go where it has nothing to do. Returns whether it did. */
  rest(): boolean {
    const { intake, producer, watches } = this.core;
    if (!producer.isIdle || watches?.isIdle === false || !intake.mayRest()) return false;
    this.#core = null;
    return true;
  }
}

export class Names<Settings, Core extends Parts> {
  readonly #context: RedisContext;
  readonly #noun: Noun<Settings, Core>;
  readonly #byName = new Map<string, Named<Settings, Core>>();
  /** Those that have a core. */
  readonly #working = new Set<Named<Settings, Core>>();
  #closed = false;

  constructor(context: RedisContext, noun: Noun<Settings, Core>) {
    this.#context = context;
    this.#noun = noun;
    context.port.onClosed?.((error) => {
      for (const { intake } of this.#cores()) intake.refused(error);
    });
    const take = ([name = "", handle, body]: readonly string[]): void => {
      this.#byName.get(decoded(name))?.working?.intake.message(handle, body);
    };
    context.inbox.handle(noun.verb, take, 2);
    context.inbox.serve({
      waits: () => this.#cores().some(({ intake, watches }) => intake.isNeeded || watches?.isIdle === false),
      turned: () => {
        for (const { intake } of this.#cores()) intake.turned();
      },
    });
  }

  /** Undefined: the program has not named it yet. @throws {InvalidArgumentError} @throws {ClosedError} */
  find(name: string): Named<Settings, Core> | undefined {
    if (this.#closed) throw new ClosedError(`${this.#noun.verb}() was called after hf.close()`);
    return this.#byName.get(checkLockName(name));
  }

  /** Names it. */
  add(name: string, settings: Settings): Named<Settings, Core> {
    const named = new Named(this, name, settings, this.#context.random.id());
    this.#byName.set(name, named);
    return named;
  }

  /** Makes the core of a name. */
  open(named: Named<Settings, Core>): Core {
    const core = this.#noun.make(named);
    if (this.#closed) void close(core);
    this.#working.add(named);
    if (this.#working.size > MOST_IDLE) queueMicrotask(() => this.#letGo());
    return core;
  }

  /** Looks at the two oldest for each new one, so that they become fewer again where many had work at a time. */
  #letGo(): void {
    for (let looks = 0; looks < 2 && this.#working.size > MOST_IDLE; looks++) {
      const [oldest] = this.#working as Iterable<Named<Settings, Core>>;
      if (!oldest) return;
      this.#working.delete(oldest);
      if (!oldest.rest()) this.#working.add(oldest);
    }
  }

  /** Ends every wait and every consumer, returns what this process has, and waits for pushes under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#cores().map(close));
  }

  #cores(): readonly Core[] {
    return [...this.#working].map(({ core }) => core);
  }
}

async function close({ intake, producer }: Parts): Promise<void> {
  await Promise.all([intake.close(), producer.close()]);
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
