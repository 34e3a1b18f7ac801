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

/** The compiler asks for every name. */
const NAMES: Readonly<Record<EventName, true>> = {
  "holdfast:lock:acquired": true,
  "holdfast:lock:waiting": true,
  "holdfast:lock:renewed": true,
  "holdfast:lock:renewal-unknown": true,
  "holdfast:lock:lost": true,
  "holdfast:lock:released": true,
  "holdfast:lock:handed-out": true,
  "holdfast:lock:adopted": true,
  "holdfast:lock:handed-over": true,
  "holdfast:lock:deadlock": true,
  "holdfast:lock:token-ahead": true,
  "holdfast:lock:token-regression": true,
  "holdfast:barrier:passed": true,
  "holdfast:barrier:lapsed": true,
  "holdfast:event:set": true,
  "holdfast:event:cleared": true,
  "holdfast:latch:counted": true,
  "holdfast:election:elected": true,
  "holdfast:election:resigned": true,
  "holdfast:election:lost": true,
  "holdfast:election:transferred": true,
  "holdfast:record:conflict": true,
  "holdfast:limit:outage": true,
  "holdfast:guard:punished": true,
  "holdfast:guard:outage": true,
  "holdfast:guard:list-failed": true,
  "holdfast:middleware:misuse": true,
  "holdfast:middleware:unsettled": true,
  "holdfast:once:ran": true,
  "holdfast:once:skipped": true,
  "holdfast:once:failed": true,
  "holdfast:server:forgot": true,
  "holdfast:signal:waiting": true,
  "holdfast:signal:interrupted": true,
  "holdfast:signal:passed-on": true,
  "holdfast:signal:dropped": true,
  "holdfast:message:dropped": true,
  "holdfast:inbox:elsewhere": true,
  "holdfast:queue:done": true,
  "holdfast:queue:failed": true,
  "holdfast:queue:stuck": true,
  "holdfast:queue:ended": true,
  "holdfast:queue:lost": true,
  "holdfast:queue:unstored": true,
  "holdfast:queue:unsettled": true,
  "holdfast:queue:outage": true,
  "holdfast:queue:returned": true,
  "holdfast:queue:dropped": true,
  "holdfast:redlock:node": true,
  "holdfast:redlock:returned": true,
  "holdfast:redlock:yielded": true,
  "holdfast:server:clock-jump": true,
};

export class EventLog {
  readonly #isOwn: () => boolean;
  readonly #entries: Entry[] = [];
  readonly #watchers = new Set<() => void>();
  readonly #listeners = (Object.keys(NAMES) as EventName[]).map((name) => ({
    name,
    listener: (payload: unknown) => this.#add(name, payload),
  }));

  /** @param isOwn whether code of the case runs, and none of a contender that lives in this process */
  constructor(isOwn: () => boolean = () => true) {
    this.#isOwn = isOwn;
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
    if (!this.#isOwn()) return;
    this.#entries.push({ name, payload, taken: false });
    for (const look of [...this.#watchers]) look();
  }
}
