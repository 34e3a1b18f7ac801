/** What can happen in the mutex model, and how it is told. */
import type { State } from "../model.js";
import { Answer, Call, type MutexPlaces, Of, Place } from "./fields.js";

export const Action = {
  begin: 0,
  subscribe: 1,
  run: 2,
  hear: 3,
  ask: 4,
  beat: 5,
  message: 6,
  renew: 7,
  release: 8,
  lapse: 9,
  sendRelease: 10,
  copy: 11,
  expired: 12,
  tick: 13,
  // From here on they are faults: there are so many of them and no more.
  giveUp: 14,
  timeout: 15,
  resend: 16,
  loseMessage: 17,
  deafen: 18,
  crash: 19,
  refuse: 20,
  jump: 21,
} as const;

export function isFault(action: number): boolean {
  return action >= Action.giveUp;
}

const calls = {
  [Call.none]: "nothing",
  [Call.take]: "take",
  [Call.ask]: "acquire, not in line",
  [Call.stand]: "acquire, in line",
  [Call.beat]: "sign of life",
  [Call.renew]: "renewal",
  [Call.release]: "release",
  [Call.ban]: "release with a ban",
} as const;

const answers = {
  [Answer.none]: "nothing",
  [Answer.granted]: "granted",
  [Answer.busy]: "busy",
  [Answer.inLine]: "in line",
  [Answer.unknown]: "not in line",
  [Answer.done]: "done",
  [Answer.lost]: "no longer yours",
} as const;

export function mutexWords(
  places: MutexPlaces,
  action: number,
  x: number,
  before: State,
  after: State,
): string {
  if (action === Action.tick) return "a moment passes";
  if (action === Action.jump) return "the server's clock jumps: the lease of the holder is over there";
  if (action === Action.deafen)
    return `client ${x + 1} loses its subscription, and what was on its way there`;
  if (action === Action.crash) return `the process of client ${x + 1} dies`;
  if (action === Action.subscribe) return `client ${x + 1} subscribes`;
  return requestWords(places, action, x, before, after);
}

/** "2a" is the first acquire of the second client. */
function requestName(places: MutexPlaces, request: number): string {
  const client = places.owners[request] as number;
  return `${client + 1}${String.fromCharCode(97 + request - places.owners.indexOf(client))}`;
}

function requestWords(places: MutexPlaces, action: number, x: number, before: State, after: State): string {
  const who = requestName(places, x);
  const at = places.blockOf(x);
  const [was, is] = [(of: number) => before[at + of] as number, (of: number) => after[at + of] as number];
  const sent = calls[is(Of.call) as 0];
  const holds = is(Of.phase) !== was(Of.phase) && is(Of.left) > 0 ? ` and holds for ${is(Of.left)}` : "";
  const answered = is(Of.answer) === Answer.none ? "" : `: ${answers[is(Of.answer) as 0]}`;
  switch (action) {
    case Action.begin:
      return `${who} begins and sends ${sent}`;
    case Action.run:
      return `the server runs ${calls[was(Of.call) as 0]} of ${who}${answered}${seen(places, after)}`;
    case Action.copy:
      return `the server runs a copy of ${calls[was(Of.copy) as 0]} of ${who}${seen(places, after)}`;
    case Action.hear:
      return `${who} hears: ${answers[was(Of.answer) as 0]}${holds}${is(Of.call) === 0 ? "" : `, and sends ${sent}`}`;
    case Action.message:
      return `the grant message for ${who} arrives${holds}`;
    case Action.ask:
    case Action.beat:
    case Action.renew:
    case Action.sendRelease:
      return `${who} sends ${sent}`;
    case Action.release:
      return `${who} is released and sends ${sent}`;
    case Action.lapse:
      return `${who} knows that its lease is over`;
    case Action.giveUp:
      return `${who} gives up${is(Of.call) === 0 ? "" : ` and sends ${sent}`}`;
    case Action.expired:
      return `${calls[was(Of.call) as 0]} of ${who} has no answer for a ttl${is(Of.call) === 0 ? "" : `: it sends ${sent}`}`;
    case Action.timeout:
      return `${who} waits no longer for the answer to ${calls[was(Of.call) as 0]}${is(Of.call) === 0 ? "" : `: it sends ${sent}`}`;
    case Action.resend:
      return `the client library of ${who} sends ${calls[was(Of.call) as 0]} twice`;
    case Action.loseMessage:
      return `the grant message for ${who} is lost`;
    default:
      return `the server refuses to write for ${calls[was(Of.call) as 0]} of ${who}`;
  }
}

function seen(places: MutexPlaces, state: State): string {
  const holder = state[Place.holder] as number;
  if (holder === 0) return "; the name is free";
  const left = state[Place.left];
  const lease = left === 0 ? "whose lease is over" : `for ${left}`;
  return `; ${requestName(places, holder - 1)} holds with token ${state[Place.holderToken]} ${lease}`;
}
