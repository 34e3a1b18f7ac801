/** What the help of `holdfast lanes` says below the options. */
export const LANES_HELP = {
  all: `
Examples:
  holdfast lanes push orders customer:7 '{"order": 12}'
  holdfast lanes watch orders 1795255757243006@customer%3A7
  holdfast lanes ls orders
  holdfast lanes pause orders customer:7
  holdfast lanes dead orders

All of it may be done while consumers run. A ticket is what push prints.
`,
  ls: `
Without NAME it lists the names; as --kind lanes of holdfast ls, which takes a
pattern. With NAME it lists its lanes: EVERY is the mean time between two
deliveries. A lane that has nothing, and no pause or limit, is not there.

Examples:
  holdfast lanes ls
  holdfast lanes ls orders
  holdfast lanes ls orders --json | jq '.lanes | max_by(.waiting)'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  push: `
Prints the ticket. With - as BODY, each line of stdin is a message of LANE, and the
number of them is printed at the end. With - as LANE and no BODY, each line names
its lane: {"lane": "customer:7", "body": {"order": 12}}. When that ends early,
stderr says how many were pushed, and which lines may have been.

Examples:
  holdfast lanes push orders customer:7 '{"order": 12}'
  holdfast lanes push orders customer:7 - < orders.ndjson
  holdfast lanes push orders - < orders-of-all.ndjson

Exit codes: 0 pushed; 64 wrong arguments, or a line that is no message: those
before it are pushed; 69 Redis is unreachable, or refuses: it may be pushed; 75
the lane is full.
`,
  state: `
Examples:
  holdfast lanes state orders
  holdfast lanes state orders customer:7
  holdfast lanes state orders customer:7 --json | jq .waiting

Exit codes: 0, also when it is unused; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  position: `
Prints its position in its lane, 1 for the next, how many are ahead of it, and how
long that takes at the speed of the last deliveries.

Examples:
  holdfast lanes position orders 1795255757243006@customer%3A7
  holdfast lanes position orders "$ticket" --json | jq .ahead

Exit codes: 0 it waits or runs; 1 it is over; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  watch: `
On a terminal each change replaces the line, else each change has a line. The
last one says how the message ended: done with its result, dead, cancelled, or
over when no result is kept.

Examples:
  holdfast lanes watch orders "$ticket"
  holdfast lanes watch orders "$ticket" --json | jq -c '[.position, .etaMs]'

Exit codes: 0 it is done, or over; 1 it is a dead letter, or was cancelled; 64
wrong arguments; 69 Redis is unreachable, or refuses; 130 you ended it.
`,
  cancel: `
Examples:
  holdfast lanes cancel orders 1795255757243006@customer%3A7

Exit codes: 0 it waited, and will not be delivered; 1 it runs, or is done; 64 wrong
arguments; 69 Redis is unreachable, or refuses: repeat it.
`,
  peek: `
Examples:
  holdfast lanes peek orders customer:7
  holdfast lanes peek orders customer:7 --count 1 --json

Exit codes: 0, also when none waits; 64 wrong arguments; 69 Redis is unreachable,
or refuses.
`,
  inFlight: `
ENDS is when the message is delivered again, unless its process extends it, which
a consumer does while its handler runs. PROCESS is the id of a Holdfast.

Examples:
  holdfast lanes in-flight orders
  holdfast lanes in-flight orders --json | jq '.inFlight[] | {lane, attempt}'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  drain: `
Of one LANE, or of all with --all. Deliveries under way go on, and dead letters stay.

Examples:
  holdfast lanes drain orders customer:7
  holdfast lanes drain orders --all --yes

Exit codes: 0 done; 1 you said no; 64 wrong arguments; 69 Redis is unreachable, or
refuses: they may be deleted.
`,
  dead: `
Examples:
  holdfast lanes dead orders
  holdfast lanes dead orders --json | jq -r '.dead[] | .id + " " + .reason'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  redrive: `
They have all their attempts again, and are delivered before messages of their
lane that were not delivered yet. Prints how many there were.

Examples:
  holdfast lanes redrive orders --all
  holdfast lanes redrive orders 1795255757243006@customer%3A7

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses: some may be back, repeat it.
`,
  pause: `
One LANE, or all with --all. Messages can be pushed, and deliveries under way go on.
Redis remembers it. A lane that is paused by itself stays so when all go on.

Examples:
  holdfast lanes pause orders customer:7
  holdfast lanes resume orders customer:7
  holdfast lanes pause orders --all

Exit codes: 0 done, also when it was so; 64 wrong arguments; 69 Redis is
unreachable, or refuses: repeat it.
`,
  limit: `
Redis remembers it until it is "none". With more than 1, messages of the lane may
end in another order.

Examples:
  holdfast lanes limit orders customer:7 3
  holdfast lanes limit orders customer:7 none

Exit codes: 0 done; 64 wrong arguments; 69 Redis is unreachable, or refuses:
repeat it.
`,
  reset: `
Deletes messages, deliveries, dead letters, pauses and limits of all lanes. Results
stay for their time. Deliveries that programs have end at their next heartbeat, and
every ticket is over.

Examples:
  holdfast lanes reset orders
  holdfast lanes reset orders --yes

Exit codes: 0 done; 1 you said no; 64 wrong arguments; 69 Redis is unreachable, or
refuses: repeat it.
`,
} as const;
