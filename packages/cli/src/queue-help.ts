/** What the help of `holdfast queue` says below the options. */
export const QUEUE_HELP = {
  all: `
Examples:
  holdfast queue push emails '{"to": "ada"}'
  jq -c '.[]' todo.json | holdfast queue push emails -
  holdfast queue ls
  holdfast queue dead emails
  holdfast queue redrive emails --all

All of it may be done while consumers run. holdfast watch --kind queue shows
queues as they change.
`,
  ls: `
WAITING counts messages that came back as well. FREE is the number of messages
that consumers would take at once.

Examples:
  holdfast queue ls
  holdfast queue ls 'mail*'
  holdfast queue ls --json | jq '.queues[] | {name, waiting}'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  push: `
Prints the id. With -, each line of stdin is a message, and the number of them is
printed at the end: as JSON, where blank lines say nothing, or as --text. They
are pushed as they come, up to 500 in one request. When that ends early, stderr
says how many were pushed, and which lines may have been.

Examples:
  holdfast queue push emails '{"to": "ada"}'
  holdfast queue push emails '{"to": "ada"}' --delay 10m
  holdfast queue push reports 7 --dedupe report:7 --dedupe-for 1d
  holdfast queue push emails - < emails.ndjson
  find . -name '*.png' | holdfast queue push images - --text
  holdfast queue push images - --bytes < one.png

Exit codes: 0 pushed, or --dedupe was there; 64 wrong arguments, or a line that is
no JSON: those before it are pushed; 69 Redis is unreachable, or refuses: it may
be pushed; 75 the queue has --max-length messages.
`,
  pop: `
Prints the body as JSON, or as base64 for bytes, and then deletes the message.
One that was not printed, because nobody reads the output or holdfast died,
comes back; one that was printed comes back when Redis is away just then.

Examples:
  holdfast queue pop emails --wait 0
  holdfast queue pop emails --json | jq .value.to

Exit codes: 0 done; 75 no message came within --wait; 74 nobody reads the output;
64 wrong arguments; 69 Redis is unreachable, or refuses: a message that was
printed may come back.
`,
  peek: `
The commands delayed and in-flight print the others.

Examples:
  holdfast queue peek emails
  holdfast queue peek emails --count 1 --json | jq '.messages[0].value'

Exit codes: 0, also when none waits; 64 wrong arguments; 69 Redis is unreachable,
or refuses.
`,
  delayed: `
DUE is how long until a message is delivered. ATTEMPTS is the number of its
deliveries: a message that failed may be given back with a delay.

Examples:
  holdfast queue delayed emails
  holdfast queue delayed emails --json | jq '.delayed[] | {id, dueInMs}'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  inFlight: `
ENDS is when the message is delivered again, unless its process extends it, which
a consumer does while its handler runs. PROCESS is the id of a Holdfast.

Examples:
  holdfast queue in-flight emails
  holdfast queue in-flight emails --json | jq '.inFlight[] | {id, attempt}'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  cancel: `
Who waits for its result learns that it was cancelled.

Examples:
  holdfast queue cancel emails 1795255757243006

Exit codes: 0 it waited, and will not be delivered; 1 a process has it, or it is
over; 64 wrong arguments; 69 Redis is unreachable, or refuses: repeat it.
`,
  state: `
Examples:
  holdfast queue state emails
  holdfast queue state emails --json | jq .waiting

Exit codes: 0, also when it is unused; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  drain: `
Deliveries under way go on, and dead letters stay.

Examples:
  holdfast queue drain emails
  holdfast queue drain emails --yes

Exit codes: 0 done; 1 you said no; 64 wrong arguments; 69 Redis is unreachable, or
refuses: they may be deleted.
`,
  dead: `
Examples:
  holdfast queue dead emails
  holdfast queue dead emails --json | jq -r '.dead[] | .id + " " + .reason'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  redrive: `
They have all their attempts again, and are delivered before messages that were
not delivered yet. Prints how many there were.

Examples:
  holdfast queue redrive emails --all
  holdfast queue redrive emails 1795255757243006

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses: some may be back, repeat it.
`,
  pause: `
Messages can be pushed, and deliveries under way go on. Redis remembers it.

Examples:
  holdfast queue pause emails
  holdfast queue resume emails

Exit codes: 0 done, also when it was so; 64 wrong arguments; 69 Redis is
unreachable, or refuses: repeat it.
`,
  reset: `
Deletes messages, deliveries, dead letters, the order and the pause. Results stay
for their time. Deliveries that programs have end at their next heartbeat.

Examples:
  holdfast queue reset emails
  holdfast queue reset emails --yes

Exit codes: 0 done; 1 you said no; 64 wrong arguments; 69 Redis is unreachable, or
refuses: repeat it.
`,
} as const;
