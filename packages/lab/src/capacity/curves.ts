/** The curves: what is shown of the rows by the number of processes. */
import { clientShare, clientUsEach, perSecond, perUnit, type Rate } from "./rates.js";

export interface Curve {
  readonly name: string;
  readonly load: string;
  readonly phase: string;
  readonly value: Rate;
}

export interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
}

const requestsEach = perUnit("requests");
const requestsPerThousand: Rate = (row) => 1_000 * (requestsEach(row) ?? 0);
const bytesEach = perUnit("dataBytes");

function both(load: string, phase: string, per: typeof perSecond): Curve[] {
  return [
    { name: "requests", load, phase, value: per("requests") },
    { name: "commands", load, phase, value: per("commands") },
  ];
}

export const panels: readonly Panel[] = [
  { title: "1,000 locks held, per second", curves: both("held", "keep", perSecond) },
  { title: "1,000 callers in line, per second", curves: both("waiting", "keep", perSecond) },
  { title: "one turn of a lock that all want", curves: both("hand-over", "turns", perUnit) },
  {
    title: "1,000 refused calls: requests",
    curves: [
      { name: "cache: false", load: "refused-uncached", phase: "call", value: requestsPerThousand },
      { name: "default", load: "refused", phase: "call", value: requestsPerThousand },
      { name: "with blocks", load: "refused-block", phase: "call", value: requestsPerThousand },
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
  { title: "a consumer in each, idle, per second", curves: both("queued", "stand", perSecond) },
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
