/** Messages of a queue, from the push to the acknowledgement, and consumers that wait for some. */
import { counted, type Load, shareOf, uncounted } from "../load.js";

/** A body of a hundred bytes. */
const body = { text: "x".repeat(89) };
/** A consumer that had nothing to do for this long is through. */
const throughMs = 500;
/** Idle consumers ask about once a second: this shows it. */
const longestStandMs = 20_000;

interface Manner {
  readonly id: string;
  /** Pushes that are under way at a time. */
  readonly pushes: number;
  readonly concurrency: number;
}

function queueing({ id, pushes, concurrency }: Manner): Load {
  return {
    id,
    helpers: 0,
    phases: [uncounted("warm"), counted("push"), counted("consume"), counted("stand")],
    // On a machine that stands still for a moment the consumers take the queue for empty.
    flaw(rows) {
      const doneIn = (phase: string) => rows.find((row) => row.phase === phase)?.done;
      return doneIn("push") === doneIn("consume") ? null : "the consumers ended before the queue was empty";
    },
    join(member, { messages, watchMs }) {
      const { hf, place, nowMs, sleep } = member;
      const queue = hf.queue(id);
      const consume = async (longestIdleMs: number) => {
        let handled = 0;
        let lastMs = nowMs();
        const consumer = queue.consume(
          async () => {
            handled += 1;
            lastMs = nowMs();
          },
          { concurrency },
        );
        for (let idleMs = 0; idleMs < longestIdleMs; idleMs = nowMs() - lastMs)
          await sleep(longestIdleMs - idleMs);
        await consumer.stop();
        return handled;
      };
      return {
        async warm() {
          const own = hf.queue(`warm:${place}`);
          await own.push(body);
          await (await own.receive())?.ack();
          return 0;
        },
        async push() {
          const own = shareOf(messages, member);
          for (let from = 0; from < own; from += pushes) {
            const size = Math.min(pushes, own - from);
            await Promise.all(Array.from({ length: size }, () => queue.push(body)));
          }
          return own;
        },
        consume: () => consume(throughMs),
        stand: () => consume(Math.min(watchMs, longestStandMs)),
      };
    },
  };
}

export const queuedAlone = queueing({ id: "queued", pushes: 1, concurrency: 1 });
export const queuedTogether = queueing({ id: "queued-together", pushes: 100, concurrency: 16 });
