/** The curves: what is shown of the rows by the number of processes. */
import type { Row } from "./load.js";

export interface Curve {
  readonly name: string;
  readonly load: string;
  readonly phase: string;
  value(row: Row): number;
}

export interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
}

const requestsPerSecond = (row: Row): number => row.requests / row.seconds;
const commandsPerSecond = (row: Row): number => row.commands / row.seconds;
const requestsEach = (row: Row): number => row.requests / row.done;
const commandsEach = (row: Row): number => row.commands / row.done;

/** Nothing where the way knows no CPU. */
const clientShare = (row: Row): number => (row.clientCpuMs ?? Number.NaN) / row.seconds / 10;
const clientUsEach = (row: Row): number => ((row.clientCpuMs ?? Number.NaN) * 1_000) / row.done;
const bytesEach = (row: Row): number => (row.dataBytes ?? Number.NaN) / row.done;

function both(load: string, phase: string, per: "second" | "one"): Curve[] {
  const [requests, commands] =
    per === "one" ? [requestsEach, commandsEach] : [requestsPerSecond, commandsPerSecond];
  return [
    { name: "requests", load, phase, value: requests },
    { name: "commands", load, phase, value: commands },
  ];
}

export const panels: readonly Panel[] = [
  { title: "1,000 locks held, per second", curves: both("held", "keep", "second") },
  { title: "1,000 callers in line, per second", curves: both("waiting", "keep", "second") },
  { title: "one turn of a lock that all want", curves: both("hand-over", "turns", "one") },
  {
    title: "1,000 refused calls: requests",
    curves: [
      {
        name: "cache: false",
        load: "refused-uncached",
        phase: "call",
        value: (row) => 1_000 * requestsEach(row),
      },
      { name: "default", load: "refused", phase: "call", value: (row) => 1_000 * requestsEach(row) },
      {
        name: "with blocks",
        load: "refused-block",
        phase: "call",
        value: (row) => 1_000 * requestsEach(row),
      },
    ],
  },
  {
    title: "one message: requests",
    curves: ["queued", "queued-together"].flatMap((load) => [
      {
        name: load === "queued" ? "push, one by one" : "push, 100 at once",
        ...{ load, phase: "push", value: requestsEach },
      },
      {
        name: load === "queued" ? "consume, 1 at a time" : "consume, 16 at a time",
        ...{ load, phase: "consume", value: requestsEach },
      },
    ]),
  },
  { title: "a consumer in each, idle, per second", curves: both("queued", "stand", "second") },
  {
    title: "CPU of all clients, % of a core",
    curves: [
      { name: "1,000 locks held", load: "held", phase: "keep", value: clientShare },
      { name: "1,000 in line", load: "waiting", phase: "keep", value: clientShare },
      { name: "idle consumers", load: "queued", phase: "stand", value: clientShare },
    ],
  },
  {
    title: "CPU of all clients for one, µs",
    curves: [
      { name: "turn of a hot lock", load: "hand-over", phase: "turns", value: clientUsEach },
      { name: "refused call", load: "refused", phase: "call", value: clientUsEach },
      { name: "push, one by one", load: "queued", phase: "push", value: clientUsEach },
      { name: "consume, 1 at a time", load: "queued", phase: "consume", value: clientUsEach },
    ],
  },
  {
    title: "bytes at the server for one",
    curves: [
      { name: "lock held", load: "held", phase: "take", value: bytesEach },
      { name: "caller in line", load: "waiting", phase: "ask", value: bytesEach },
      { name: "message of 100 B", load: "queued", phase: "push", value: bytesEach },
    ],
  },
];
