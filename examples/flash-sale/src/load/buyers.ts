/**
 * The buyers: autocannon sends the requests, this file keeps the books.
 *
 * autocannon (9.0.0) counts a connection closed by the other side as no error, and times the requests after it from
 * the lost one. So every connection is watched here: a request without an answer is an error, and latency runs from
 * the sending of the very request that was answered.
 */
import autocannon from "autocannon";
import { epochMs } from "../clock.js";
import type { SaleAnswer } from "../servers/messages.js";

export interface BuyersOptions {
  readonly url: string;
  readonly requests: number;
  readonly concurrency: number;
  /** Ends the rush early. */
  readonly signal: AbortSignal;
  readonly onProgress?: (answered: number, sold: number, left: number) => void;
}

export interface Answer {
  /** Since the first request. */
  readonly atMs: number;
  readonly latencyMs: number;
  /** The sale's outcome, or null for an answer that was no 200. */
  readonly sale: SaleAnswer | null;
}

export interface Rush {
  readonly answers: readonly Answer[];
  /** Requests that never got an answer: the connection broke, or the time was up. */
  readonly unanswered: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
}

/** A buyer gives up after this long, in seconds. The servers give up waiting for the lock before that. */
const PATIENCE_S = 30;
/** autocannon notices that all is done only on this beat. */
const BEAT_MS = 50;

/** Sends `requests` requests, `concurrency` at a time, each connection its equal share. @throws the signal's reason */
export async function rush(options: BuyersOptions): Promise<Rush> {
  options.signal.throwIfAborted();
  const answers: Answer[] = [];
  const startedAtMs = epochMs();
  let unanswered = 0;
  let soldCount = 0;
  let lastAnswerAtMs = 0;

  const setupClient = (client: autocannon.Client): void => {
    let sentAtMs: number | null = null;
    const onResponse = (status: number, body: string): void => {
      lastAnswerAtMs = epochMs();
      const sale = status === 200 ? (JSON.parse(body) as SaleAnswer) : null;
      answers.push({
        atMs: lastAnswerAtMs - startedAtMs,
        latencyMs: lastAnswerAtMs - (sentAtMs ?? lastAnswerAtMs),
        sale,
      });
      sentAtMs = null;
      if (sale?.sold) soldCount += 1;
      options.onProgress?.(answers.length + unanswered, soldCount, sale?.left ?? 0);
    };
    const giveUp = (): void => {
      if (sentAtMs !== null) unanswered += 1;
      sentAtMs = null;
    };
    client.setRequests([{ method: "GET", onResponse }]);
    client.on("request" as "body", () => {
      giveUp(); // A new request while one is unanswered: the connection of the old one broke.
      sentAtMs = epochMs();
    });
    client.on("done" as "body", giveUp);
  };

  const { url, requests, concurrency } = options;
  const running = autocannon({
    url,
    amount: requests,
    connections: Math.min(concurrency, requests),
    timeout: PATIENCE_S,
    sampleInt: BEAT_MS,
    setupClient,
  });
  const stop = (): void => (running as unknown as autocannon.Instance).stop();
  options.signal.addEventListener("abort", stop);
  if (options.signal.aborted) stop();
  try {
    await running;
  } finally {
    options.signal.removeEventListener("abort", stop);
  }
  options.signal.throwIfAborted();
  return { answers, unanswered, startedAtMs, durationMs: (lastAnswerAtMs || epochMs()) - startedAtMs };
}
