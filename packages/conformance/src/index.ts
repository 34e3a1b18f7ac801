/** Every public name, one explicit list. */
export type {
  Case,
  Contender,
  ContenderHands,
  ContenderTerms,
  HoldfastSetup,
  Lab,
  LabLocks,
  LockCase,
  LockLab,
  LockPeek,
  LockStore,
  LockTamper,
  Need,
  NounCase,
  NounLab,
  RedisHand,
  Silence,
} from "./case.js";
export { ManualClock } from "./clock.js";
export { type ContenderBody, contenderOf } from "./contender.js";
export { EventLog, type EventName } from "./events.js";
export { framed } from "./framed.js";
export { freePort } from "./free-port.js";
export { type LabClients, type LabServer, type OpenClient, RedisLab } from "./lab.js";
export { killLaunched, launch, launchModule } from "./launched.js";
export { atExit } from "./leftovers.js";
export { mutexCases, mutexThemes } from "./mutex/cases.js";
export type { Faults, Kind, SocketFile, Target, Treatment } from "./network.js";
export { nounCases, nouns } from "./nouns.js";
export { inTime, outcome } from "./outcome.js";
export { type ProcessEntry, processList } from "./process-list.js";
export {
  anyProgram,
  needing,
  needingAny,
  type ProgramName,
  program,
  skippedFor,
  variableOf,
} from "./programs.js";
export { FaultProxy } from "./proxy.js";
export { RedisStore, type SendCommand } from "./redis-store.js";
export { redlockCases, redlockThemes } from "./redlock/cases.js";
export {
  type LabQuorum,
  type QuorumLocks,
  type RedlockCase,
  RedlockLab,
  type RedlockSetup,
} from "./redlock/lab.js";
export { type ClosingLab, runCase, whyNot } from "./run.js";
export { ServerProcess, type ServerTerms } from "./server-process.js";
export { type LabStore, StoreLab } from "./store-lab.js";
export { strangersCase } from "./together/messages.js";
export { UNHURRIED } from "./unhurried.js";
export { until, within } from "./wait.js";
export type { Wire } from "./wire.js";
