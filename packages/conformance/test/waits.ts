/** Every wait of every noun: how it comes to wait, and what lets it go on. */
import type { Holdfast } from "holdfast";

/** A wait that is under way. */
interface Waiting {
  readonly promise: Promise<unknown>;
  /** Makes its wish come true, by another process. */
  serve(): Promise<unknown>;
}

export interface Wait {
  /** The name of its method, and how it differs from another of it. */
  readonly title: string;
  /** It holds something itself, or has heard something before: it cannot begin without an answer. */
  readonly needsAnswer?: true;
  /** Its reader ends it. */
  readonly isStream?: true;
  /** The server may count it for longer than it waits, so that its outcome is unknown. */
  readonly isCounted?: true;
  /** @param name as no other has it @param other holds what `hf` waits for, and gives it free */
  begin(hf: Holdfast, other: Holdfast, name: string, wait: number): Promise<Waiting>;
}

/** The value behind the present one. */
async function second(stream: AsyncIterableIterator<unknown>): Promise<unknown> {
  const { done, value } = await stream.next();
  return done ? undefined : value;
}

export const WAITS: readonly Wait[] = [
  {
    title: "Mutex.acquire",
    async begin(hf, other, name, wait) {
      const held = await other.mutex(name).acquire();
      return { promise: hf.mutex(name).acquire({ wait }), serve: () => held.release() };
    },
  },
  {
    title: "Mutex.acquire, held in the same process",
    needsAnswer: true,
    async begin(hf, _other, name, wait) {
      const held = await hf.mutex(name).acquire();
      return { promise: hf.mutex(name).acquire({ wait }), serve: () => held.release() };
    },
  },
  {
    title: "Mutex.acquire, reentrant",
    async begin(hf, other, name, wait) {
      const held = await other.mutex(name, { reentrant: true }).acquire({ owner: other });
      const promise = hf.mutex(name, { reentrant: true }).acquire({ wait, owner: hf });
      return { promise, serve: () => held.release() };
    },
  },
  {
    title: "Mutex.run",
    async begin(hf, other, name, wait) {
      const held = await other.mutex(name).acquire();
      return { promise: hf.mutex(name).run(() => 1, { wait }), serve: () => held.release() };
    },
  },
  {
    title: "Semaphore.acquire",
    async begin(hf, other, name, wait) {
      const held = await other.semaphore(name, { permits: 1 }).acquire();
      const promise = hf.semaphore(name, { permits: 1 }).acquire({ wait });
      return { promise, serve: () => held.release() };
    },
  },
  {
    title: "Semaphore.acquire, held in the same process",
    needsAnswer: true,
    async begin(hf, _other, name, wait) {
      const held = await hf.semaphore(name, { permits: 1 }).acquire();
      const promise = hf.semaphore(name, { permits: 1 }).acquire({ wait });
      return { promise, serve: () => held.release() };
    },
  },
  {
    title: "ReadLock.acquire",
    async begin(hf, other, name, wait) {
      const held = await other.rwLock(name).write().acquire();
      return { promise: hf.rwLock(name).read().acquire({ wait }), serve: () => held.release() };
    },
  },
  {
    title: "WriteLock.acquire",
    async begin(hf, other, name, wait) {
      const held = await other.rwLock(name).read().acquire();
      return { promise: hf.rwLock(name).write().acquire({ wait }), serve: () => held.release() };
    },
  },
  {
    title: "MultiLock.acquire",
    async begin(hf, other, name, wait) {
      const held = await other.mutex(`${name} b`).acquire();
      const locks = ["a", "b", "c"].map((part) => hf.mutex(`${name} ${part}`));
      return { promise: hf.multiLock(locks).acquire({ wait }), serve: () => held.release() };
    },
  },
  {
    title: "Election.campaign",
    async begin(hf, other, name, wait) {
      const led = await other.election(name).campaign();
      return { promise: hf.election(name).campaign({ wait }), serve: () => led.resign() };
    },
  },
  {
    title: "Election.observe",
    needsAnswer: true,
    isStream: true,
    async begin(hf, other, name) {
      const observed = hf.election(name).observe();
      await observed.next();
      return { promise: second(observed), serve: () => other.election(name).campaign() };
    },
  },
  {
    title: "VersionedRecord.watch",
    needsAnswer: true,
    isStream: true,
    async begin(hf, other, name) {
      await other.record(name).put(1);
      const watched = hf.record(name).watch();
      await watched.next();
      return { promise: second(watched), serve: () => other.record(name).put(2) };
    },
  },
  {
    title: "Holdfast.once",
    async begin(hf, other, name, wait) {
      let end = (): void => {};
      let begun = (): void => {};
      const work = new Promise<void>((resolve) => {
        begun = resolve;
      });
      const first = other.once(
        name,
        () =>
          new Promise<number>((resolve) => {
            end = () => resolve(1);
            begun();
          }),
        { keep: "1h" },
      );
      first.catch(() => {});
      await work;
      const serve = async (): Promise<void> => end();
      return { promise: hf.once(name, () => 2, { keep: "1h", wait }), serve };
    },
  },
  {
    title: "Queue.receive",
    begin: async (hf, other, name, wait) => ({
      promise: hf.queue(name).receive({ wait }),
      serve: () => other.queue(name).push(1),
    }),
  },
  {
    title: "Queue.pop",
    begin: async (hf, other, name, wait) => ({
      promise: hf.queue(name).pop({ wait }),
      serve: () => other.queue(name).push(1),
    }),
  },
  {
    title: "Queue.result",
    async begin(hf, other, name, wait) {
      const { id } = await other.queue(name).push(1);
      const promise = hf.queue(name).result(id, { wait });
      return { promise, serve: async () => (await other.queue(name).receive())?.ack("done") };
    },
  },
  {
    title: "Lanes.receive",
    begin: async (hf, other, name, wait) => ({
      promise: hf.lanes(name).receive({ wait }),
      serve: () => other.lanes(name).push("lane", 1),
    }),
  },
  {
    title: "Lanes.result",
    async begin(hf, other, name, wait) {
      const ticket = await other.lanes(name).push("lane", 1);
      const promise = hf.lanes(name).result(ticket, { wait });
      return { promise, serve: async () => (await other.lanes(name).receive())?.ack("done") };
    },
  },
  {
    title: "Lanes.watch",
    needsAnswer: true,
    isStream: true,
    async begin(hf, other, name) {
      const ticket = await other.lanes(name).push("lane", 1);
      const watched = hf.lanes(name).watch(ticket);
      await watched.next();
      return {
        promise: second(watched),
        serve: async () => (await other.lanes(name).receive())?.ack("done"),
      };
    },
  },
  {
    title: "Signal.wait",
    begin: async (hf, other, name, wait) => ({
      promise: hf.signal(name).wait({ wait }),
      serve: () => other.signal(name).emit(1),
    }),
  },
  {
    title: "Signal.listen",
    needsAnswer: true,
    isStream: true,
    async begin(hf, other, name) {
      const listener = await hf.signal(name).listen();
      return { promise: second(listener), serve: () => other.signal(name).emit(1) };
    },
  },
  {
    title: "Signals.any",
    begin: async (hf, other, name, wait) => ({
      promise: hf.signals.any([`${name} a`, `${name} b`], { wait }),
      serve: () => other.signal(`${name} b`).emit(1),
    }),
  },
  {
    title: "Signals.all",
    begin: async (hf, other, name, wait) => ({
      promise: hf.signals.all([`${name} a`, `${name} b`], { wait }),
      serve: () => Promise.all(["a", "b"].map((part) => other.signal(`${name} ${part}`).emit(1))),
    }),
  },
  {
    title: "SignalPattern.listen",
    needsAnswer: true,
    isStream: true,
    async begin(hf, other, name) {
      const listener = await hf.signals.matching(`${name} *`).listen();
      return { promise: second(listener), serve: () => other.signal(`${name} b`).emit(1) };
    },
  },
  {
    title: "SignalPattern.wait",
    begin: async (hf, other, name, wait) => ({
      promise: hf.signals.matching(`${name} *`).wait({ wait }),
      serve: () => other.signal(`${name} b`).emit(1),
    }),
  },
  {
    title: "SharedEvent.wait",
    begin: async (hf, other, name, wait) => ({
      promise: hf.event(name).wait({ wait }),
      serve: () => other.event(name).set(),
    }),
  },
  {
    title: "Latch.wait",
    begin: async (hf, other, name, wait) => ({
      promise: hf.latch(name, 1).wait({ wait }),
      serve: () => other.latch(name, 1).countDown(),
    }),
  },
  {
    title: "Barrier.wait",
    isCounted: true,
    begin: async (hf, other, name, wait) => ({
      promise: hf.barrier(name, 2).wait({ wait }),
      serve: () => other.barrier(name, 2).wait(),
    }),
  },
];
