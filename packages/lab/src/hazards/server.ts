/** C: what servers do. They forget, fall back, are replaced, run out of memory, and refuse. */
import { type Hazard, lab, later, suite, unit } from "./hazard.js";

export const serverHazards: readonly Hazard[] = [
  {
    id: "H38",
    sentence: "a server without persistence restarts: the lock is gone, its holder works on",
    concerns: ["locks", "servers", "tokens"],
    answer:
      "the second holder has the larger token; the first is refused, hears that it was forgotten, and an event tells",
    red: [lab("server", "a counter of tokens begins anew after a restart")],
    green: [
      lab(
        "server",
        "after a restart without memory the next token is larger, and the old holder hears that it was forgotten",
      ),
      suite(
        "restart",
        "after a restart without memory old leases are lost, tokens still rise, and new leases are renewed",
      ),
    ],
  },
  {
    id: "H39",
    sentence: "the power fails, and the last second of the append-only file with it",
    concerns: ["locks", "servers", "tokens"],
    answer: "as after a restart: the next token is larger",
    red: [lab("server", "a counter of tokens falls back with the append-only file")],
    green: [lab("server", "after a fall-back by a second the next token is larger")],
  },
  later(
    "H40",
    "quorum",
    "one server of a quorum forgets: two majorities",
    "it is refused until it is safe again",
  ),
  {
    id: "H41",
    sentence:
      "a replica that lags is promoted: the lock is lost, and a counter hands out the same token again",
    concerns: ["locks", "tokens", "servers"],
    answer: "the next token is larger, and the old holder refused",
    red: [lab("server", "INCR tokens of two holders are equal after a failover")],
    green: [
      lab(
        "server",
        "after a failover to a replica that lags the next token is larger, and the old holder refused",
      ),
    ],
  },
  {
    id: "H42",
    sentence: "the promoted server's clock is behind, and tokens from its clock fall",
    concerns: ["tokens", "servers"],
    answer:
      "whoever had the larger one notices: an event, and the lock is asked for above it; whoever is refused goes above what refused him",
    red: [lab("server", "tokens of the bare clock fall after a failover to a clock that is behind")],
    green: [
      suite("fencing", "a refused holder acquires above the token that the record has seen"),
      lab("server", "a token that falls is told, given to nobody, and asked for again above the last"),
      unit(
        "local-line",
        "a token that is not above the last one is given to nobody, and the next is asked for above it",
      ),
      lab("server", "a holder that is refused for a token from before the failover acquires above it"),
    ],
  },
  {
    id: "H43",
    sentence: "a split brain: the old primary keeps granting",
    concerns: ["locks", "servers", "fencing"],
    answer: "two holders, of whom the resource serves one: the larger token, or of two equal ones the first",
    red: [lab("server", "both sides of a split brain write")],
    green: [
      lab("server", "of two sides of a split brain the resource serves one"),
      suite("fencing", "an equal token of another holder is refused"),
    ],
  },
  {
    id: "H44",
    sentence: "WAIT has counted replicas, and another one is promoted",
    concerns: ["servers", "locks"],
    answer: "nothing in the documentation says that WAIT makes a lock safe",
    red: [lab("pressure", "a write that one replica has confirmed is gone when another is promoted")],
    green: [lab("pressure", "no page promises what WAIT cannot keep")],
  },
  {
    id: "H45",
    sentence: "a replica's clock is off: on its promotion a lease ends early, or late",
    concerns: ["locks", "servers"],
    answer:
      "early: the second token is larger and the first refused. Late: granted a ttl after somebody asked",
    red: [lab("server", "SET NX PX: a promoted clock that is ahead makes a second holder")],
    green: [
      lab(
        "server",
        "a promoted clock that is ahead: a larger token, and the first refused; behind: at most a ttl",
      ),
    ],
  },
  {
    id: "H46",
    sentence: "before Redis 7.0 the time a command takes to reach a replica stretches its ttl",
    concerns: ["servers"],
    answer: "the doctor says that older servers are not tested on",
    red: [lab("pressure", "a ttl that counts from its arrival at the replica ends later than the primary's")],
    green: [unit("doctor", "Redis %s")],
  },
  {
    id: "H47",
    sentence: "a full server evicts locks and counters",
    concerns: ["servers", "tokens", "locks"],
    answer:
      "the doctor calls it an error; tokens rise all the same, and the holder hears that it was forgotten",
    red: [lab("pressure", "allkeys-lru evicts a lock and its counter")],
    green: [
      lab(
        "pressure",
        "an evicted lock: its holder hears that it was forgotten, and the next token is larger",
      ),
      unit("doctor", "one that %s"),
    ],
  },
  {
    id: "H48",
    sentence: "FLUSHALL, DEL or an old backup: the counter of tokens begins at 1",
    concerns: ["tokens", "servers"],
    answer: "the next token is larger, unless tokens were ahead of the clock: an event says when they are",
    red: [lab("pressure", "after FLUSHALL a counter of tokens begins at 1")],
    green: [
      lab("pressure", "after FLUSHALL tokens rise; a token that is ahead of the clock is told"),
      suite("tokens", "tokens rise although the counter was lost"),
      unit("server-clock", "a token is ahead when the server's clock, as last read, has not come that far"),
    ],
  },
  {
    id: "H49",
    sentence: "a script fails in the middle, and what it wrote before stays",
    concerns: ["servers", "locks"],
    answer:
      "every key is looked at before the first write: where one holds something else, nothing has changed",
    red: [unit("hazards/scripts", "a script that writes first and fails second leaves half of its work")],
    green: [
      unit("hazards/scripts", "a foreign type under any key of any script: nothing is written"),
      unit("hazards/scripts", "an argument that is none: nothing is written"),
      unit("lock-scripts", "WRONGTYPE or ERR, and nothing written, for a foreign key in any place"),
    ],
  },
  {
    id: "H50",
    sentence: "OOM, MISCONF, NOREPLICAS, READONLY, LOADING, BUSY …: did it happen or not?",
    concerns: ["servers", "clients"],
    answer: "a refusal is definite: typed, and nothing has changed. No answer is indeterminate, and says so",
    red: [lab("pressure", "a client's error does not say whether the command was carried out")],
    green: [
      unit(
        "hazards/scripts",
        "a user without one of the commands: tokens do not fall, and no lease is touched but the caller's own",
      ),
      unit("connection", "tells the server's refusals from the client's trouble"),
      unit("hazards/scripts", "each refusal of the server, for each script: nothing is written"),
      lab("pressure", "each refusal of the server is a ServerError, no answer an IndeterminateError"),
      unit("server-errors", "no memory left: OOM; what is held can be given back"),
      unit("errors", "docs/errors.md has what each refusal means"),
    ],
  },
  {
    id: "H51",
    sentence: "somebody's script blocks the server for seconds, and all leases run out together",
    concerns: ["servers", "locks"],
    answer: "each is lost in time, and says so; renewals are spread and few",
    red: [lab("pressure", "a timer that assumes success believes in its lock while the server was blocked")],
    green: [
      lab(
        "pressure",
        "a server that is blocked for seconds: every lease is told lost before another holds it",
      ),
      unit("keeper", "are each ended at their own deadline, and tried a few times, not once per deadline"),
    ],
  },
  {
    id: "H52",
    sentence: "a server dies in the middle of a script",
    concerns: ["servers"],
    answer: "all of it or nothing after the restart",
    red: [unit("hazards/crash", "two commands without a script are cut in half by a crash")],
    green: [unit("hazards/crash", "a crash at any command: the file has all of a script or nothing")],
  },
  later("H53", "cluster", "a slot moves: TRYAGAIN, ASK, and ttls that begin anew", "no double grant"),
  later(
    "H54",
    "cluster",
    "a subscription to a slot is dropped when the slot moves",
    "as for any lost message",
  ),
  later("H55", "quorum", "a server is added to the quorum, or replaced", "it counts as one that forgot"),
];
