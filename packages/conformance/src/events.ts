/** EventLog: what the library told on its diagnostics channels during one case, and waiting for more of it. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { HoldfastEvents } from "holdfast";
import { within } from "./wait.js";

export type EventName = keyof HoldfastEvents;

interface Entry {
  readonly name: EventName;
  readonly payload: unknown;
  taken: boolean;
}

const NAMES: readonly EventName[] = [
  "holdfast:lock:acquired",
  "holdfast:lock:waiting",
  "holdfast:lock:renewed",
  "holdfast:lock:renewal-unknown",
  "holdfast:lock:lost",
  "holdfast:lock:released",
  "holdfast:lock:handed-over",
  "holdfast:lock:token-ahead",
  "holdfast:lock:token-regression",
  "holdfast:server:forgot",
  "holdfast:server:clock-jump",
];

export class EventLog {
  readonly #entries: Entry[] = [];
  readonly #watchers = new Set<() => void>();
  readonly #listeners = NAMES.map((name) => ({
    name,
    listener: (payload: unknown) => this.#add(name, payload),
  }));

  constructor() {
    for (const { name, listener } of this.#listeners) subscribe(name, listener);
  }

  close(): void {
    for (const { name, listener } of this.#listeners) unsubscribe(name, listener);
  }

  /** All events of that name so far, in their order. */
  all<Name extends EventName>(name: Name): HoldfastEvents[Name][] {
    return this.#entries
      .filter((entry) => entry.name === name)
      .map((entry) => entry.payload as HoldfastEvents[Name]);
  }

  /** The first event of that name that no earlier `next` returned and that matches; waits for it if need be. */
  async next<Name extends EventName>(
    name: Name,
    matches: (payload: HoldfastEvents[Name]) => boolean = () => true,
  ): Promise<HoldfastEvents[Name]> {
    const find = (): Entry | undefined =>
      this.#entries.find(
        (entry) => !entry.taken && entry.name === name && matches(entry.payload as HoldfastEvents[Name]),
      );
    let look: () => void = () => {};
    const found = new Promise<Entry>((resolve) => {
      look = () => {
        const entry = find();
        if (!entry) return;
        entry.taken = true;
        this.#watchers.delete(look);
        resolve(entry);
      };
      this.#watchers.add(look);
      look();
    });
    const entry = await within(found, `the event ${name}`).finally(() => this.#watchers.delete(look));
    return entry.payload as HoldfastEvents[Name];
  }

  #add(name: EventName, payload: unknown): void {
    this.#entries.push({ name, payload, taken: false });
    for (const look of [...this.#watchers]) look();
  }
}
