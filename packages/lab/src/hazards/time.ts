/** A: what time does. Processes stand still, clocks are wrong, timers are late. */
import { type Hazard, lab, later, suite, unit } from "./hazard.js";

export const timeHazards: readonly Hazard[] = [
  {
    id: "H01",
    sentence:
      "a holder is paused beyond its lease, another one takes the lock, and the first wakes and writes",
    concerns: ["locks", "fencing"],
    answer:
      "its write is refused with the token that overtook it; the lease is over at the first look; the signal fires",
    red: [lab("time", "SET NX PX: a paused holder overwrites what the next one wrote")],
    green: [
      suite("limits", "lockDelayMs keeps the name from others after the holder has lost it by the clock"),
      lab("time", "a paused holder is refused by the record, knows at its first look, and is told"),
      suite(
        "processes",
        "a process that was stopped beyond its lease does not believe in it when it goes on",
      ),
    ],
  },
  {
    id: "H02",
    sentence: "a write leaves in time, is held up in the network, and lands after the next holder's",
    concerns: ["locks", "fencing"],
    answer: "the fence refuses it; no lease could",
    red: [lab("time", "SET NX PX: a write that was held up in the network lands after the next holder's")],
    green: [lab("time", "a write that was held up in the network is refused by the record")],
  },
  {
    id: "H03",
    sentence: "after a stall the next step of the section runs before the timer that would have aborted it",
    concerns: ["locks", "clients"],
    answer: "the step is refused although the signal has not aborted yet: validity is a look at the clock",
    red: [
      lab(
        "time",
        "a section that believes a signal goes on after its lease: an answer came before the timer",
      ),
    ],
    green: [
      lab("time", "check() refuses every step after the lease, in whichever order timers and answers come"),
      unit("keeper", "knows its end by the clock before any timer has fired"),
    ],
  },
  {
    id: "H04",
    sentence: "seconds of computing in one piece: timers, renewal and signal are all late",
    concerns: ["locks", "clients"],
    answer: "the lease is over at the first look, and the error says for how long it had been",
    red: [
      lab("clients", "redis-semaphore: after a stall its caller works on, and another holds"),
      lab("time", "after a long computation the signal still says that all is well"),
    ],
    green: [
      lab("time", "after a long computation the lease is over, and says for how long"),
      suite(
        "deadline",
        "after a stall of the process its lease is over at the first look, before any timer fires",
      ),
    ],
  },
  {
    id: "H05",
    sentence: "a holder checks its lease, is paused, and then writes",
    concerns: ["locks", "fencing"],
    answer: "nothing local helps: the fence refuses the write",
    red: [lab("time", "asking the server before each write does not help: the pause comes in between")],
    green: [
      lab(
        "time",
        "a pause between the check and the write, wherever it falls, never overwrites the next holder",
      ),
    ],
  },
  {
    id: "H06",
    sentence: "the server's clock is set forward past the end of a lease",
    concerns: ["locks", "servers", "tokens"],
    answer: "two holders, in the order of their tokens; the first is refused; an event tells of the clock",
    red: [
      lab("clocks", "SET NX PX: a server's clock set forward makes a second holder, and nobody is the wiser"),
    ],
    green: [
      lab(
        "clocks",
        "a server's clock set forward: the second token is larger, the first is refused, and it is told",
      ),
    ],
  },
  {
    id: "H07",
    sentence: "the server's clock is set back by an hour, and a dead holder's lock stays for that hour",
    concerns: ["locks", "waiting", "servers"],
    answer: "the next grant comes at most a ttl after somebody first asked",
    red: [lab("clocks", "SET NX PX: a server's clock set back keeps a dead holder's lock for an hour")],
    green: [
      lab("clocks", "a server's clock set back: a dead holder's lock is granted a ttl after somebody asked"),
      unit("lock-scripts", "a lease that a clock set back would prolong is cut back to its ttl"),
      unit("release-script", "a waiter from before the clock was set back is alive, and dies a ttl later"),
    ],
  },
  later(
    "H08",
    "quorum",
    "the clock of one server of five jumps, and two majorities overlap",
    "tokens are in order, and the odd clock is named",
  ),
  {
    id: "H09",
    sentence: "a client's wall clock is set back, and its lease, measured by it, looks longer",
    concerns: ["locks", "clients"],
    answer: "no step of the wall clock makes a lease look longer than the monotonic clock allows",
    red: [
      lab("clients", "redlock 5: a wall clock that is set back lengthens the lock"),
      lab("clocks", "a lease that is measured by the wall clock outlives the server's"),
    ],
    green: [
      lab("clocks", "a wall clock that is set back leaves the lease where it is"),
      suite("deadline", "a wall clock that is set back does not lengthen a lease"),
    ],
  },
  {
    id: "H10",
    sentence: "a machine is suspended: its monotonic clock stood still, the server's did not",
    concerns: ["locks", "clients"],
    answer: "the lease is over at the first look after the resume",
    red: [lab("clocks", "a lease that is measured by the monotonic clock alone survives a suspension")],
    green: [
      lab("clocks", "a lease is over at the resume"),
      suite(
        "deadline",
        "a machine that was suspended for longer than the ttl finds the lease over, and is told",
      ),
    ],
  },
  later(
    "H11",
    "semaphore",
    "members are dated by the clients' clocks, and a fast one evicts the living",
    "only the server's clock counts",
  ),
  {
    id: "H12",
    sentence: "a client's clock is slow, and its lease outlives the server's",
    concerns: ["locks", "clients"],
    answer: "up to 1 % slow the lease ends here first; beyond that the fence holds",
    red: [lab("clocks", "a lease that is counted to its full ttl on a slow clock outlives the server's")],
    green: [
      lab("clocks", "on a clock that is 1 % slow the lease ends before the server's"),
      suite("deadline", "at every moment a lease ends for its holder before it ends at the server"),
    ],
  },
  later(
    "H13",
    "limiter",
    "a server's clock goes back, and a limiter denies for as long",
    "at most one window",
  ),
  later(
    "H14",
    "limiter",
    "a limiter counts by timestamps that its clients bring",
    "only the server's clock counts",
  ),
  {
    id: "H15",
    sentence: "a timer longer than 24.8 days fires at once",
    concerns: ["locks", "clients"],
    answer: "long waits and leases are long: no hot loop, no lease that ends at once",
    red: [lab("clocks", "setTimeout of more than 2^31 ms fires at once")],
    green: [unit("time", "a timer longer than Node can hold does not fire at once, and can be cancelled")],
  },
  {
    id: "H16",
    sentence: "a time limit by AbortSignal.timeout lets the process end before it fires",
    concerns: ["clients", "waiting"],
    answer: "the process lives until what it waits for is decided",
    red: [lab("clocks", "a process that waits for AbortSignal.timeout ends, and its listener never runs")],
    green: [lab("clocks", "a process that waits by holdfast's clock lives until it rings")],
  },
  {
    id: "H17",
    sentence: "a script writes microseconds as 1.75e+15, or as 2147483647 where a long has 32 bits",
    concerns: ["tokens", "servers"],
    answer: "tokens are exact to the microsecond, on servers of 64 and of 32 bits",
    red: [lab("clocks", "tostring and %d spoil a token")],
    green: [
      lab("clocks", "a token is the server's clock to the microsecond"),
      suite(
        "tokens",
        "tokens are bigints that rise with every grant and are never below the server's clock in microseconds",
      ),
      suite("fencing", "tokens compare exactly at any size"),
    ],
  },
  {
    id: "H18",
    sentence: "two looks at the clock in one script differ on Redis 7.0, and are the same elsewhere",
    concerns: ["servers", "tokens"],
    answer: "no script looks twice",
    red: [lab("clocks", "two looks at the clock in one script differ where the server does not freeze it")],
    green: [unit("hazards/scripts", "no script looks at the clock twice")],
  },
  {
    id: "H19",
    sentence: "a Sentinel whose clock jumped makes no failover for half a minute",
    concerns: ["servers", "clients"],
    answer: "calls end with a typed error in their time; nothing hangs",
    red: [lab("network", "a client that never settles a call hangs its caller for good")],
    green: [
      suite("faults", "an attempt at a server that cannot be reached fails soon, with an error that says so"),
      suite(
        "deadline",
        "an unreachable server ends the lease at its deadline: not later, and not while it can still be trusted",
      ),
    ],
  },
];
