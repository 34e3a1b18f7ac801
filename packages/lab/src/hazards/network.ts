/** B: what client libraries and networks do. Answers are lost, commands sent again, messages missed. */
import { type Hazard, lab, later, suite, unit } from "./hazard.js";

export const networkHazards: readonly Hazard[] = [
  {
    id: "H20",
    sentence:
      "the lock is set, the answer lost, the command sent again: refused, by the lock that is one's own",
    concerns: ["locks", "clients"],
    answer: "the acquire succeeds, with the token of the first",
    red: [
      lab("clients", "ioredis sends SET NX again, and its caller hears no while it holds the lock"),
      lab("network", "SET NX is sent again and says no, while the caller holds the lock"),
    ],
    green: [
      lab(
        "clients",
        "with each client library, an acquire whose answer was lost holds the lock, or leaves none behind",
      ),
      lab("network", "an acquire that is sent again succeeds, with one token"),
      suite(
        "faults",
        "an acquire whose answer was lost succeeds by asking again: its own mark does not stand in its way",
      ),
      suite("resends", "a connection that breaks before the answer harms neither acquire nor release"),
    ],
  },
  {
    id: "H21",
    sentence: "INCR is sent again and counts twice",
    concerns: ["tokens", "clients", "semaphore", "limiter"],
    answer:
      "one grant, one token, however often it is asked for; permits and charges follow with their primitives",
    red: [lab("network", "INCR is sent again: two tokens for one grant")],
    green: [lab("network", "an acquire that is sent again succeeds, with one token")],
  },
  later("H22", "queue", "RPUSH is sent again: two jobs", "one message"),
  later("H23", "queue", "LPOP is sent again: the first job is lost", "the job is delivered again"),
  {
    id: "H24",
    sentence: "a client that does not send again never settles the call either",
    concerns: ["clients", "locks", "waiting"],
    answer: "every call settles by its own limit, as unknown where it is",
    red: [
      lab("clients", "ioredis that sends nothing again never settles the call"),
      lab("network", "a client that never settles a call hangs its caller for good"),
    ],
    green: [
      lab(
        "clients",
        "with each client library, every call settles within its limit while the server is silent",
      ),
      lab("network", "every call settles within its limit, although the client settles none"),
      unit("connection", "settles a call that has no answer, and ignores an answer that comes late"),
    ],
  },
  {
    id: "H25",
    sentence:
      "a client keeps the acquire while it is offline, and sends it when its caller has long given up",
    concerns: ["clients", "waiting"],
    answer: "the lock is free a moment after the connection is back",
    red: [
      lab("clients", "each client library sends SET NX from its offline queue when its caller has gone on"),
      lab("network", "SET NX from the offline queue takes the lock for nobody"),
    ],
    green: [
      lab("clients", "with each client library, an acquire that was given up while offline leaves no holder"),
      lab("network", "an acquire that was given up while offline leaves no holder"),
      suite("resends", "a request that arrives after its caller gave up takes nothing"),
      suite("resends", "a request that arrives long after its connection broke takes nothing for nobody"),
    ],
  },
  {
    id: "H26",
    sentence: "a server stands still, the call runs out of time, and is carried out when the server goes on",
    concerns: ["servers", "waiting", "locks"],
    answer: "the lock is free a moment after; a lease counts from when it was asked for",
    red: [lab("network", "SET NX at a server that stood still takes the lock for nobody")],
    green: [
      lab("network", "an acquire at a server that stood still leaves no holder when it goes on"),
      suite(
        "faults",
        "a frozen server hangs no caller, and what was asked meanwhile leaves no holder behind",
      ),
    ],
  },
  {
    id: "H27",
    sentence: "the answer to a release is lost, or the release comes after the lease",
    concerns: ["locks", "clients"],
    answer: "released, lapsed or unknown, within one limit, and no later holder is touched",
    red: [
      lab("clients", "redlock 5: a release whose answer was lost throws"),
      lab(
        "network",
        "a release that throws when the key is gone says that a release failed which was carried out",
      ),
    ],
    green: [
      lab("network", "a release whose answer was lost says released"),
      suite("release", "a release of a lease that ran out says lapsed at once, and touches no later holder"),
      suite(
        "release",
        "a release without an answer says unknown within its limit, and is made good when the server is back",
      ),
    ],
  },
  {
    id: "H28",
    sentence: "a connection is half open: the renewal hangs in it past the end of the lease",
    concerns: ["locks", "clients"],
    answer: "the lease is lost here before it ends at the server",
    red: [lab("network", "a renewal that awaits its answer believes in its lock while another holds it")],
    green: [
      lab("network", "a lease whose renewals vanish is lost before another can hold it"),
      suite("deadline", "a renewal that hangs does not delay the end of the lease"),
    ],
  },
  {
    id: "H29",
    sentence: "a connection still leads to a primary that was made a replica",
    concerns: ["clients", "servers"],
    answer: "a typed refusal that passes: a wait goes on, and is granted when the server takes writes again",
    red: [lab("network", "a loop that stops at the first error gives up during a failover")],
    green: [
      lab("network", "a wait goes on while the server is read-only, and is granted afterwards"),
      unit("server-errors", "a replica: READONLY"),
    ],
  },
  {
    id: "H30",
    sentence: "a wake-up is published while the subscriber reconnects, and it was the last one",
    concerns: ["waiting", "clients"],
    answer: "the waiter looks again as soon as it is back, and in any case after a third of its ttl",
    red: [lab("waiting", "a waiter that lives by messages alone sleeps on beside a free lock")],
    green: [
      lab("waiting", "a waiter whose messages are lost gets the lock within its fallback"),
      suite("handover", "a waiter whose inbox breaks looks again as soon as it is back"),
      suite("handover", "a lost message costs time and nothing else"),
    ],
  },
  {
    id: "H31",
    sentence: "a waiter looks first and subscribes second: a release in between reaches nobody",
    concerns: ["waiting"],
    answer: "subscribed first, in line second, whatever the delays",
    red: [lab("waiting", "look, then subscribe: a release in between is missed")],
    green: [lab("waiting", "no release is missed, at whichever moment of the wait's beginning it comes")],
  },
  {
    id: "H32",
    sentence: "the baton is taken from a list by a waiter that dies before it has the lock",
    concerns: ["waiting"],
    answer:
      "the grant is written before it is told, and ends by itself: the next waiter gets it within a ttl",
    red: [lab("waiting", "BLPOP: the baton dies with the waiter that took it")],
    green: [
      lab("waiting", "a waiter that dies as it is granted delays the next by one ttl at most"),
      suite(
        "handover",
        "a waiter that is cut off with its connections standing delays the others by its own lease at most",
      ),
    ],
  },
  {
    id: "H33",
    sentence: "two services write different prefixes, databases or tags, and lock different locks",
    concerns: ["clients", "locks"],
    answer:
      "prefixes are apart by design, refused where they could be taken for each other; the doctor tells of a client's own prefix",
    red: [lab("connections", "two databases are two locks, and nobody says so")],
    green: [
      suite("exclusion", "one name under two prefixes is two locks"),
      unit("arguments", "names that cannot be kept apart are refused"),
      unit("doctor", "options of ioredis"),
    ],
  },
  later("H34", "quorum", "clients have different lists of servers", "an acquire is refused"),
  {
    id: "H35",
    sentence: "the server restarts, and no longer knows the scripts that are called by their sums",
    concerns: ["clients", "servers"],
    answer: "nobody notices; an event tells",
    red: [lab("connections", "EVALSHA alone fails after a restart")],
    green: [
      lab("connections", "scripts are sent anew after a restart, and it is told"),
      suite(
        "faults",
        "scripts that the server lost are sent anew: for acquire, wait, renewal, hand-over and release",
      ),
    ],
  },
  {
    id: "H36",
    sentence: "the connection is shared with a command that blocks, and renewals wait behind it",
    concerns: ["clients", "locks"],
    answer:
      "holdfast itself blocks nothing; behind somebody else's the loss is told in time, and the guide says what to do",
    red: [lab("connections", "behind BLPOP a renewal comes too late, and its holder does not know")],
    green: [
      lab(
        "connections",
        "behind BLPOP a lease is lost before another can hold it; waiting of one's own blocks nothing",
      ),
    ],
  },
  {
    id: "H37",
    sentence: "the answer is read after seconds of computing: the lock that was got has run out",
    concerns: ["locks", "clients"],
    answer: "no lease: what was granted is given back",
    red: [
      lab("clients", "redlock 5: a lock whose answer is read late is handed out although it is over"),
      lab("connections", "SET NX PX: an answer that is read late is a lock that is over"),
    ],
    green: [
      lab("connections", "a grant that is read after its lease is no lease, and is given back"),
      suite(
        "late-answers",
        "a grant whose answer comes after the lease ran out gives no lease, and is cleaned up",
      ),
      suite("late-answers", "a lease counts from when its request was sent, however late the answer comes"),
    ],
  },
];
