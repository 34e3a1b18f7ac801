/** One slice of messages: pushed by one process, and consumed by one or several, at the same time or after it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ConsumeReport, PushTask } from "../child/messages.js";
import type { Figures } from "../figures.js";
import type { ContestantProcess } from "./contestant-process.js";
import { betweenMs, latencies } from "./hand-off-trial.js";
import type { RedisServer } from "./redis-server.js";
import { sum } from "./statistics.js";

export interface CourierTrial {
  readonly messages: number;
  readonly bytes: number;
  readonly lanes: number;
  readonly concurrency: number;
}

const IN_FLIGHT = 64;
const ASK_EVERY_MS = 25;
/** Of a slice: a courier that has lost messages must not keep the others from their turn. */
const CONSUME_MS = 60_000;

let slices = 0;

/** All messages are pushed before the first is consumed. */
export async function backlogSlice(
  server: RedisServer,
  producer: ContestantProcess,
  consumers: readonly ContestantProcess[],
  trial: CourierTrial,
): Promise<Figures> {
  await server.flush();
  const task = pushTask(producer, trial, { inFlight: IN_FLIGHT });
  const { messages } = trial;
  const emptyBytes = await server.memoryBytes();
  const push = await server.during(() => producer.do<"push">(task));
  const fullBytes = await server.memoryBytes();
  await prepare(consumers, task.queue, trial);
  const consume = await server.during(async () => {
    await run(consumers);
    return await finish(consumers, messages);
  });
  const reports = consume.result;
  return {
    pushedPerSecond: (messages * 1_000) / push.result.tookMs,
    requestsPerPush: push.result.requests / messages,
    commandsPerPush: push.server.commands / messages,
    pushClientCpuMsPer10k: (push.result.cpuMs / messages) * 10_000,
    pushServerCpuMsPer10k: (push.server.cpuMs / messages) * 10_000,
    memoryPerMessage: (fullBytes - emptyBytes) / messages,
    consumedPerSecond: (messages * 1_000) / spanMs(reports),
    requestsPerMessage: sum(reports.map(({ requests }) => requests)) / messages,
    commandsPerMessage: consume.server.commands / messages,
    clientCpuMsPer10k: (sum(reports.map(({ cpuMs }) => cpuMs)) / messages) * 10_000,
    serverCpuMsPer10k: (consume.server.cpuMs / messages) * 10_000,
    ...losses(reports, messages),
  };
}

/** Messages are pushed at a steady pace to a consumer that waits for them. */
export async function trickleSlice(
  server: RedisServer,
  producer: ContestantProcess,
  consumer: ContestantProcess,
  trial: CourierTrial & { readonly perSecond: number },
): Promise<Figures> {
  await server.flush();
  const task = pushTask(producer, trial, { perSecond: trial.perSecond });
  const { messages } = trial;
  await prepare([consumer], task.queue, trial);
  await run([consumer]);
  // The consumer's first request for a message has to be there before the first push.
  await sleep(200);
  const { result, server: done } = await server.during(async () => {
    const pushed = await producer.do<"push">(task);
    return { pushed, reports: await finish([consumer], messages) };
  });
  const { pushed, reports } = result;
  return {
    ...latencies(reports.flatMap(({ latenciesMs }) => latenciesMs)),
    messages,
    requestsPerPush: pushed.requests / messages,
    requestsPerMessage: sum(reports.map(({ requests }) => requests)) / messages,
    commandsPerMessage: done.commands / messages,
    ...losses(reports, messages),
  };
}

function pushTask(
  { name }: ContestantProcess,
  { messages, bytes, lanes }: CourierTrial,
  pace: PushTask["pace"],
): PushTask {
  slices += 1;
  return { task: "push", queue: `bench-${name}-${slices}`, messages, bytes, lanes, pace };
}

function prepare(
  consumers: readonly ContestantProcess[],
  queue: string,
  { concurrency, messages }: CourierTrial,
): Promise<unknown> {
  return Promise.all(
    consumers.map((each) => each.do<"consume">({ task: "consume", queue, concurrency, messages })),
  );
}

function run(consumers: readonly ContestantProcess[]): Promise<unknown> {
  return Promise.all(consumers.map((each) => each.do<"run">({ task: "run" })));
}

/** Waits until all messages were handled, or far longer than that takes, and stops the consumers. */
async function finish(consumers: readonly ContestantProcess[], messages: number): Promise<ConsumeReport[]> {
  const until = performance.now() + CONSUME_MS;
  let handled = 0;
  while (handled < messages && performance.now() < until) {
    await sleep(ASK_EVERY_MS);
    const counts = await Promise.all(consumers.map((each) => each.do<"consumed">({ task: "consumed" })));
    handled = sum(counts.map((each) => each.handled));
  }
  return await Promise.all(consumers.map((each) => each.do<"stop">({ task: "stop" })));
}

function losses(reports: readonly ConsumeReport[], messages: number): Figures {
  const seen = reports.map((report) => Buffer.from(report.seen, "base64"));
  let distinct = 0;
  for (let n = 0; n < messages; n += 1)
    if (seen.some((bits) => ((bits[n >> 3] ?? 0) >> (n & 7)) & 1)) distinct += 1;
  const handled = sum(reports.map((report) => report.handled));
  return { lostMessages: messages - distinct, redelivered: handled - distinct };
}

/** From the first start to the last end, times of process.hrtime. */
function spanMs(reports: readonly ConsumeReport[]): number {
  const spans = reports.flatMap(({ startedAtNs }) =>
    reports.map(({ endedAtNs }) => betweenMs(startedAtNs, endedAtNs)),
  );
  return Math.max(...spans);
}
