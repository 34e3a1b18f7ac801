/** Every figure by its name: how it reads, and how the rounds become one. */

export interface Figure {
  readonly head: string;
  readonly digits: number;
  /** What counts of several rounds. */
  readonly of: "median" | "max" | "sum";
}

const catalogue = {
  cyclesPerSecond: { head: "cycles/s", digits: 0, of: "median" },
  handOversPerSecond: { head: "true hand-\novers/s", digits: 0, of: "median" },
  requestsPerCycle: { head: "requests\n/cycle", digits: 2, of: "median" },
  requestsPerNodeCycle: { head: "requests\n/cycle\n/node", digits: 2, of: "median" },
  commandsPerCycle: { head: "commands\n/cycle", digits: 1, of: "median" },
  readsPerCycle: { head: "socket reads\n/cycle", digits: 2, of: "median" },
  bytesPerCycle: { head: "bytes\n/cycle", digits: 0, of: "median" },
  clientCpuMsPer10k: { head: "client CPU\nms/10k", digits: 0, of: "median" },
  serverCpuMsPer10k: { head: "server CPU\nms/10k", digits: 0, of: "median" },
  checksPerSecond: { head: "checks/s", digits: 0, of: "median" },
  requestsPerCheck: { head: "requests\n/check", digits: 2, of: "median" },
  commandsPerCheck: { head: "commands\n/check", digits: 1, of: "median" },
  admitted: { head: "admitted", digits: 0, of: "max" },
  refused: { head: "refused", digits: 0, of: "sum" },
  processJain: { head: "Jain of\nprocesses", digits: 3, of: "median" },
  jain: { head: "Jain", digits: 3, of: "median" },
  longestWaitMs: { head: "longest\nwait ms", digits: 0, of: "max" },
  starved: { head: "starved", digits: 0, of: "max" },
  gaveUp: { head: "gave\nup", digits: 0, of: "sum" },
  tooMany: { head: "too many\nat a time", digits: 0, of: "sum" },
  lostUpdates: { head: "lost\nupdates", digits: 0, of: "sum" },
  p50Ms: { head: "p50 ms", digits: 2, of: "median" },
  p99Ms: { head: "p99 ms", digits: 2, of: "median" },
  worstMs: { head: "worst ms", digits: 1, of: "max" },
  words: { head: "words", digits: 0, of: "sum" },
  missed: { head: "missed", digits: 0, of: "sum" },
  commandsPerWord: { head: "commands\n/word", digits: 1, of: "median" },
  pushedPerSecond: { head: "pushed/s", digits: 0, of: "median" },
  requestsPerPush: { head: "requests\n/push", digits: 2, of: "median" },
  commandsPerPush: { head: "commands\n/push", digits: 1, of: "median" },
  pushClientCpuMsPer10k: { head: "client CPU\nms/10k", digits: 0, of: "median" },
  pushServerCpuMsPer10k: { head: "server CPU\nms/10k", digits: 0, of: "median" },
  memoryPerMessage: { head: "bytes of\nmemory\n/message", digits: 0, of: "median" },
  consumedPerSecond: { head: "consumed/s", digits: 0, of: "median" },
  requestsPerMessage: { head: "requests\n/message", digits: 2, of: "median" },
  commandsPerMessage: { head: "commands\n/message", digits: 1, of: "median" },
  messages: { head: "messages", digits: 0, of: "sum" },
  lostMessages: { head: "lost", digits: 0, of: "sum" },
  redelivered: { head: "delivered\nagain", digits: 0, of: "sum" },
  requestsPerCandidateSecond: { head: "requests/s\n/candidate", digits: 2, of: "median" },
  samples: { head: "hand-offs", digits: 0, of: "sum" },
  requestsPerSecond: { head: "requests/s", digits: 1, of: "median" },
  commandsPerSecond: { head: "commands/s", digits: 0, of: "median" },
  clientCpuPercent: { head: "client\nCPU %", digits: 1, of: "median" },
  serverCpuPercent: { head: "server\nCPU %", digits: 1, of: "median" },
  memoryEach: { head: "bytes of\nmemory\neach", digits: 0, of: "median" },
  lost: { head: "lost, says\nthe library", digits: 0, of: "sum" },
  expired: { head: "expired at\nthe server", digits: 0, of: "sum" },
  worstStallMs: { head: "worst\nstall ms", digits: 1, of: "median" },
  worstOwnStallMs: { head: "of it own\nCPU ms", digits: 1, of: "median" },
  takeMs: { head: "taking\nall, ms", digits: 0, of: "median" },
  firstLeaseMs: { head: "first\nlease ms", digits: 1, of: "median" },
  importMs: { head: "import\nms", digits: 1, of: "median" },
  timers: { head: "timers on\nimport", digits: 0, of: "max" },
  sockets: { head: "sockets on\nimport", digits: 0, of: "max" },
} satisfies Record<string, Figure>;

export type FigureName = keyof typeof catalogue;

export const figures: Readonly<Record<FigureName, Figure>> = catalogue;

export type Figures = Partial<Record<FigureName, number>>;
