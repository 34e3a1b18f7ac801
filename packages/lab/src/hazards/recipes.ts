/** D: what recipes get wrong by themselves, without any fault but a caller who stops. */
import { type Hazard, lab, later, suite, unit } from "./hazard.js";

export const recipeHazards: readonly Hazard[] = [
  {
    id: "H56",
    sentence: "SETNX, then EXPIRE: a crash in between locks for ever",
    concerns: ["locks"],
    answer: "free a ttl after the holder's end, at whichever moment that came",
    red: [lab("recipes", "SETNX and EXPIRE: a crash in between locks for ever")],
    green: [
      lab("recipes", "a holder that dies at any moment of its acquire leaves nothing for ever"),
      suite(
        "processes",
        "a killed holder's name goes to the next in line once its lease is over, and not before",
      ),
      suite("tokens", "nothing that is kept of a name stays for ever"),
    ],
  },
  {
    id: "H57",
    sentence: "DEL without a look, or after one, frees somebody else's lock",
    concerns: ["locks"],
    answer: "a release of a lease that is over says so, and touches nobody",
    red: [
      lab("recipes", "DEL frees the next holder's lock"),
      lab("recipes", "GET and then DEL frees the next holder's lock as well"),
    ],
    green: [
      lab("recipes", "a late release says lapsed, and the next holder keeps the lock"),
      suite(
        "release",
        "a release of a lease that the server gave to another says lapsed, and leaves it to the other",
      ),
    ],
  },
  {
    id: "H58",
    sentence: "GETSET of a timestamp: losers move the winner's end, and clocks decide who wins",
    concerns: ["locks", "clients"],
    answer: "only the server's clock counts, and only the holder moves the end",
    red: [lab("recipes", "GETSET: with clocks 200 ms apart two win")],
    green: [
      lab("recipes", "clients whose clocks are apart: one wins"),
      suite("deadline", "a client's wrong wall clock changes nothing for others: the server's clock decides"),
    ],
  },
  later(
    "H59",
    "limiter",
    "INCR, then EXPIRE: a crash in between blocks a user for ever",
    "every key is born with its end",
  ),
  {
    id: "H60",
    sentence: "an extension takes a lock again that was lost",
    concerns: ["locks"],
    answer: "lost is lost: nothing is written",
    red: [lab("recipes", "SET PX as an extension takes the next holder's lock")],
    green: [
      lab("recipes", "a renewal of a lost lock writes nothing, and the lease is lost"),
      suite(
        "renewal",
        "a holder whose name the server forgot learns it at the next renewal, and does not take it back",
      ),
    ],
  },
  later(
    "H61",
    "limiter",
    "a fixed window lets twice the limit through at its edge",
    "at most burst and rate",
  ),
  {
    id: "H62",
    sentence: "the fence is raised by writes only: an old holder writes between the new one's read and write",
    concerns: ["fencing"],
    answer: "the new holder enters before it reads: the old one is refused",
    red: [lab("fences", "a fence that only writes raise loses an update")],
    green: [
      lab("fences", "a record that is entered before it is read loses none"),
      {
        file: "packages/holdfast/test/fencing/sql-suite.ts",
        title: "a reader who writes later is refused because the newer one entered, not wrote",
      },
      unit("fencing/file", "entering is enough to refuse an older holder that has read"),
      unit(
        "fencing/http",
        "a paused holder is refused with 412, and its fetch rejects with the token that overtook it",
      ),
    ],
  },
  {
    id: "H63",
    sentence:
      "a fence compares text, refuses its own holder's second write, lets an equal token of another in, or forgets",
    concerns: ["fencing"],
    answer:
      "one holder comes as often as it likes; another with an equal token is refused; tokens of any size are exact",
    red: [
      lab("fences", "tokens that are compared as text let an older one in"),
      lab("fences", "a fence that wants more than it has seen refuses its own holder"),
      lab("fences", "a fence that knows only the token serves two holders of an equal one"),
      lab("fences", "a fence that lives in a process forgets with it"),
    ],
    green: [
      lab(
        "fences",
        "one holder comes again, another's equal token is refused, at any size, and after a restart of the program",
      ),
      suite("fencing", "an equal token of another holder is refused"),
      suite("fencing", "tokens compare exactly at any size"),
      {
        file: "packages/holdfast/test/fencing/sql-suite.ts",
        title: "one holder writes as often as it likes, the same value too; another's equal token is refused",
      },
      unit("fencing/file", "one holder writes as often as it likes; another's equal token is refused"),
      unit("fencing/http", "one holder comes as often as it likes; another's equal token is refused"),
    ],
  },
  {
    id: "H64",
    sentence: "a stale holder asks the server for its token, and is told the next holder's",
    concerns: ["fencing", "tokens"],
    answer: "the token is a constant of the lease",
    red: [lab("fences", "a token that is read from the server is the next holder's")],
    green: [
      lab("fences", "a lease keeps its token after it was overtaken"),
      suite("tokens", "a holder keeps its token through renewals"),
    ],
  },
  {
    id: "H65",
    sentence: "a thousand waiters poll, or all wake at once",
    concerns: ["waiting", "servers"],
    answer: "commands per hand-over do not grow with the number of those who wait",
    red: [lab("recipes", "polling: commands per hand-over grow with the waiters")],
    green: [
      lab("recipes", "commands per hand-over are the same for 10 waiters and for 100"),
      suite("handover", "a hand-over costs the next holder no request"),
    ],
  },
  {
    id: "H66",
    sentence: "the first in line is dead, and the line stands still",
    concerns: ["waiting"],
    answer: "passed over at once where its connection is gone, else after its ttl",
    red: [lab("recipes", "a line without signs of life stands still behind a dead waiter")],
    green: [
      lab("recipes", "a dead waiter delays the next by its ttl at most"),
      suite("handover", "a waiter whose connections are gone is passed over at once"),
      suite("processes", "a killed waiter is passed over at once"),
    ],
  },
  {
    id: "H67",
    sentence: "the renewal outlives the work: an orphan is renewed for days",
    concerns: ["locks"],
    answer: "the renewal ends with the section, and maxHoldMs ends what nobody ends",
    red: [lab("recipes", "a renewal that nothing ends keeps the lock of work that failed")],
    green: [
      lab("recipes", "run() gives back what failed, and maxHoldMs ends what hangs"),
      suite(
        "limits",
        "maxHoldMs ends a lease however healthy, renews it no more, and gives the holder the ttl to stop",
      ),
    ],
  },
  later(
    "H68",
    "queue",
    "a worker is slower than its job's invisibility: done twice",
    "a stale receipt is refused",
  ),
  later("H69", "queue", "a crash between taking a job and writing that down", "delivered again"),
  later("H70", "election", "a leader acts after it lost, and two are seen", "one valid leader per term"),
  later("H71", "semaphore", "a semaphore over a quorum lets three in where two may", "refused"),
  {
    id: "H72",
    sentence: "the error of the work is hidden by that of the lock",
    concerns: ["locks"],
    answer: "the work's outcome comes out, always; the lock's shows in the lease",
    red: [lab("recipes", "a release that throws hides the error of the work")],
    green: [
      lab("recipes", "the error of the work comes out, and the loss of the lease is there to be seen"),
      suite("release", "run of a lease that was lost still gives the work's value or error"),
    ],
  },
];
