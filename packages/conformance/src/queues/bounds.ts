/** What handlers may do to their consumer: user code has a bound. The same for queues and lanes. */
import assert from "node:assert/strict";
import type { ConsumeOptions, Consumer, Holdfast } from "holdfast";
import type { NounCase } from "../case.js";
import { until, within } from "../wait.js";

interface Handled {
  readonly body: unknown;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

interface Jobs {
  push(body: string): Promise<unknown>;
  consume(
    handler: (delivery: Handled) => unknown,
    options: ConsumeOptions<Handled & { readonly id: string }>,
  ): Consumer;
  state(): Promise<{
    readonly dead: number;
    readonly inFlight: number;
    readonly stuck: number;
    readonly waiting: number;
  }>;
  dead(): Promise<readonly { readonly body: unknown; readonly reason: string }[]>;
}

function queueOf(hf: Holdfast, name: string): Jobs {
  const queue = hf.queue<string>(name, { maxAttempts: 3 });
  return {
    push: (body) => queue.push(body),
    consume: (handler, options) => queue.consume(handler, options),
    state: () => queue.state(),
    dead: () => queue.dead(),
  };
}

function lanesOf(hf: Holdfast, name: string): Jobs {
  const lanes = hf.lanes<string>(name, { maxAttempts: 3 });
  return {
    push: (body) => lanes.push(body, body),
    consume: (handler, options) => lanes.consume(handler, options),
    state: () => lanes.state(),
    dead: () => lanes.dead(),
  };
}

/** Handlers whose messages have "poison" in their bodies stay until they are let go, and hear no signal. */
class Hands {
  readonly began: string[] = [];
  readonly #held: (() => void)[] = [];

  readonly handler = ({ body, attempt }: Handled): Promise<void> | undefined => {
    this.began.push(`${String(body)} ${attempt}`);
    if (!String(body).startsWith("poison")) return undefined;
    return new Promise<void>((resolve) => this.#held.push(resolve));
  };

  letOneGo(): void {
    this.#held.shift()?.();
  }
}

const TIMEOUT_MS = 500;

type JobsOf = (hf: Holdfast, name: string) => Jobs;

function neverEnds(kind: string, jobsOf: JobsOf): NounCase {
  return {
    name: `${kind}: a handler that never ends has failed after its timeout, its place is free, and its message becomes a dead letter without a second one beside it`,
    covers: [],
    needs: [],
    waits: true,
    async run(lab) {
      const hf = await lab.holdfast();
      const jobs = jobsOf(hf, lab.name());
      const hands = new Hands();
      const failed: string[] = [];
      const options = { concurrency: 2, timeout: TIMEOUT_MS, backoff: 1 };
      const consumer = jobs.consume(hands.handler, {
        ...options,
        onFailed: (error, { body, attempt }) => {
          failed.push(`${body} ${attempt}: ${(error as Error).message}`);
          throw new Error("onFailed fails too");
        },
      });
      await jobs.push("poison");
      await until("it is a dead letter", async () => (await jobs.state()).dead === 1);
      for (const body of ["a", "b"]) await jobs.push(body);
      await until("the others are done", async () => {
        return hands.began.length === 3 && (await jobs.state()).inFlight === 0;
      });
      assert.deepEqual(hands.began, ["poison 1", "a 1", "b 1"]);
      assert.deepEqual([consumer.running, consumer.stuck], [1, 1]);
      const still = "the handler of an earlier attempt still runs here, after its timeout";
      assert.deepEqual(failed, [
        `poison 1: the handler did not end within ${TIMEOUT_MS} ms`,
        `poison 2: ${still}`,
        `poison 3: ${still}`,
      ]);
      await within(consumer.stop({ grace: "1h" }), "a stop, which does not wait for a stuck handler");
    },
  };
}

function allStuck(kind: string, jobsOf: JobsOf): NounCase {
  return {
    name: `${kind}: a consumer with as many stuck handlers as places takes nothing more, says so everywhere, and goes on when one of them ends`,
    covers: [],
    needs: [],
    waits: true,
    async run(lab) {
      const [one, two] = [await lab.holdfast(), await lab.holdfast()];
      const name = lab.name();
      const jobs = jobsOf(one, name);
      const hands = new Hands();
      const consumer = jobs.consume(hands.handler, { concurrency: 2, timeout: TIMEOUT_MS, backoff: "1h" });
      for (const body of ["poison 1", "poison 2"]) await jobs.push(body);
      const event = await lab.events.next("holdfast:queue:stuck", ({ queue }) => queue === name);
      assert.equal(event.handlers, 2);
      await jobs.push("a");
      await until("others see it", async () => (await jobsOf(two, name).state()).stuck === 2);
      assert.deepEqual([consumer.stuck, hands.began.length], [2, 2]);
      hands.letOneGo();
      await until("it goes on", () => hands.began.length === 3);
      await until("others see that too", async () => (await jobsOf(two, name).state()).stuck === 1);
      await consumer.stop();
    },
  };
}

function crashes(kind: "queue" | "lanes", jobsOf: JobsOf): NounCase {
  return {
    name: `${kind}: a message whose process ends three times is a dead letter, and those that were beside it are done`,
    covers: [],
    needs: ["spawn"],
    waits: true,
    async run(lab) {
      const [name, hf] = [lab.name(), await lab.holdfast()];
      const jobs = jobsOf(hf, name);
      for (const body of ["poison", "a", "b", "c"]) await jobs.push(body);
      // The first process ends with all of them, and each later one with the poison, whenever its turn comes.
      for (const others of ["stay", "end", "end"] as const) {
        const doomed = await lab.spawn();
        await doomed.perform(
          ({ holdfast, kept }, [of, noun, how]) => {
            const begun: unknown[] = [];
            const handler = ({ body }: { readonly body: unknown }): unknown => {
              begun.push(body);
              return how === "end" && body !== "poison" ? "done" : new Promise(() => {});
            };
            kept.begun = begun;
            const options = { concurrency: 4 };
            kept.consumer =
              noun === "queue"
                ? holdfast.queue(of).consume(handler, options)
                : holdfast.lanes(of).consume(handler, options);
          },
          [name, kind, others] as const,
        );
        const begun = () => doomed.perform(({ kept }) => kept.begun as readonly unknown[], null);
        await until("it has the poison", async () => {
          const all = await begun();
          return all.includes("poison") && (others === "end" || all.length === 4);
        });
        await doomed.kill();
      }
      const done: string[] = [];
      const consumer = jobs.consume(({ body, attempt }) => void done.push(`${body} ${attempt}`), {
        concurrency: 4,
      });
      await until("the poison is dead, and nothing else is left", async () => {
        const { dead, inFlight, waiting } = await jobs.state();
        return dead === 1 && inFlight + waiting === 0;
      });
      assert.deepEqual(
        (await jobs.dead()).map(({ body, reason }) => [body, reason]),
        [["poison", "its process ended, 3 times"]],
      );
      assert.ok(
        done.every((one) => /^[abc] 1$/.test(one)),
        `a crash is no attempt: ${done}`,
      );
      await consumer.stop();
    },
  };
}

export const boundCases: readonly NounCase[] = [
  neverEnds("queue", queueOf),
  neverEnds("lanes", lanesOf),
  allStuck("queue", queueOf),
  allStuck("lanes", lanesOf),
  crashes("queue", queueOf),
  crashes("lanes", lanesOf),
];
