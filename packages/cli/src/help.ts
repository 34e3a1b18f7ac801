/** The text of `--help` after the options. */
export const HELP = {
  program: `
Examples:
  holdfast embedded                              a Valkey to try things on
  holdfast lock deploy -- ./deploy.sh            one deployment at a time
  holdfast lock backup --wait 0 -- ./backup.sh   skip it when one runs
  holdfast ls                                    who holds, how many wait
  holdfast watch 'deploy*'                       the same, as it changes
  holdfast release deploy --force                take it from its holder
  holdfast elect cron -- ./scheduler.sh          one leader, and the next
  holdfast once report:2026-11-22 --keep 2d -- ./report.sh
                                                 one machine of all runs it
  holdfast limit sms user:7 --max 10 --per 1h    once more, or refused
  holdfast record get flags                      a value that programs share
  holdfast signal wait go                        until somebody emits it
  holdfast queue push emails '{"to": "ada"}'     a message for one consumer
  holdfast lanes ls orders                       who waits in which lane

Exit codes:
  0 done; 1 the answer is no, or holdfast has a defect; 3 the record has
  another version; 64 wrong arguments; 69 Redis is unreachable, or refuses;
  70 the lease was lost; 74 the output cannot be written; 75 the lock is busy,
  the limit is used up, or no message came; 126 the command cannot be executed;
  127 there is no such command; 128+n signal n ended the command

The Redis comes from --redis or HOLDFAST_REDIS, the prefix from --prefix or
HOLDFAST_PREFIX. Several servers, by --redis for each or with spaces between
them in HOLDFAST_REDIS, are a Redlock. NO_COLOR declines colours.
`,
  lock: `
The environment of the command has the lock's name in HOLDFAST_LOCK and the
fencing token in HOLDFAST_FENCE. The token rises with every holder, so that a
resource can refuse writes with a smaller one.

When the lease is lost, holdfast sends SIGTERM to the command's process group
and, after --grace, SIGKILL. It passes the signals that it gets on to the
command.

Examples:
  holdfast lock deploy -- ./deploy.sh
  holdfast lock nightly --wait 0 -- sh -c 'backup && prune'
  holdfast lock account:13 --ttl 10s --wait 1m --label batch -- node pay.js
  HOLDFAST_REDIS='redis://a redis://b redis://c' holdfast lock deploy -- ./go.sh
                                             by a majority of three servers
  holdfast lock encode --permits 4 -- ./encode.sh     four at a time, anywhere
  holdfast lock index --read -- ./query.sh            beside other readers

Exit codes:
  the command's own, 128+n when signal n ended it; 75 the lock was not free
  within --wait; 70 the lease was lost, and holdfast stopped the command;
  77 the lease was lost, and the command worked on, because it runs as another
  user; 69 Redis is unreachable, or refuses; 64 wrong arguments; 126 the command
  cannot be executed; 127 there is no such command
`,
  elect: `
The environment of the command has the election's name in HOLDFAST_ELECTION
and the term in HOLDFAST_TERM. The term rises with every leader, so that a
resource can refuse writes with a smaller one; HOLDFAST_FENCE is the same.

A leader stays in office until its command ends. When the lead is lost, holdfast
sends SIGTERM to the command's process group and, after --grace, SIGKILL. Then
it stands for election again, and starts the command again when it leads. It
passes the signals that it gets on to the command, and exits after them.

Examples:
  holdfast elect cron -- ./scheduler.sh
  holdfast elect cron --value http://10.0.0.7:8080 -- node scheduler.js
  holdfast elect report --wait 0 --once -- ./report.sh

Exit codes:
  the command's own, 128+n when signal n ended it; 75 somebody else led for as
  long as --wait; 70 the lead was lost, with --once; 77 it was lost, and the
  command worked on, because it runs as another user; 69 Redis is unreachable,
  or refuses; 64 wrong arguments; 126 the command cannot be executed; 127 there
  is no such command
`,
  once: `
The first one runs the command. All others, on any machine, wait for its end
and exit with its exit code, also when they start later. A command that fails,
or whose machine dies, is run by the next one; with --store-failures a failure
counts as done, too. A command that a signal ended never does.

The environment of the command has the key in HOLDFAST_ONCE and the fencing
token in HOLDFAST_FENCE. When the lease is lost, holdfast sends SIGTERM to the
command's process group and, after --grace, SIGKILL.

Examples:
  holdfast once "report:$(date -u +%F)" --keep 2d -- ./report.sh
  holdfast once migrate:42 --keep forever --wait 10m -- ./migrate.sh 42
  holdfast once migrate:42 --forget

Exit codes:
  the command's own, now or when it ran; 75 another one was running it for as
  long as --wait; 70 the lease was lost; 77 it was lost, and the command worked
  on, because it runs as another user; 69 Redis is unreachable, or refuses, or
  did not store that the command has run; 64 wrong arguments; 126 the command
  cannot be executed; 127 there is no such command. With --forget: 0 forgotten;
  1 nothing is known of KEY.
`,
  leader: `
Examples:
  holdfast leader cron
  holdfast leader cron --json | jq -r .leader.value
  holdfast leader cron --watch

Exit codes: 0 somebody leads, or you ended --watch; 1 nobody leads; 64 wrong
arguments; 69 Redis is unreachable, or refuses.
`,
  ls: `
Kinds: lock, semaphore, rwlock, election, once, event, latch, barrier, queue, lanes,
and signal, of which those are listed that somebody waits for. Records have \`holdfast record ls\`, limits
\`holdfast limits ls\`. The lock of an election or a key of once has its kind
before its name: election:NAME, once:KEY.

Examples:
  holdfast ls
  holdfast ls 'deploy*'
  holdfast ls --kind election
  holdfast ls --json | jq -r '.locks[].name'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  show: `
Examples:
  holdfast show deploy
  holdfast show start-of-day --kind barrier
  holdfast show deploy --json | jq -r .holder.fence

Exit codes: 0, also when it is free or unused; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  watch: `
Examples:
  holdfast watch
  holdfast watch deploy
  holdfast watch 'shard*' --kind election
  holdfast watch 'deploy*' --interval 200ms --json

Exit codes: 0 you ended it, or the reader of the output is gone; 64 wrong
arguments; 69 Redis is unreachable, or refuses.
`,
  release: `
The fence rises above all tokens of the old holder, so that a resource can
refuse its late writes. The old lease ends at once if the holder's process
listens. If that is \`holdfast lock\`, it stops its command.

Examples:
  holdfast release deploy --force
  holdfast release deploy --force --yes --fence 1795255757243006
  holdfast release encode --kind semaphore --force --fence 1795255757243006

Exit codes: 0 the lock was taken, or was free; 1 you said no; 75 another holder
has it than the question or --fence named; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  permits: `
The number counts for all processes, whatever their programs say, until a day
after the last use of the semaphore. 0 stops all grants. When it is lowered,
holders keep what they have, and nobody is served before enough has come back.

Examples:
  holdfast permits encode 2
  holdfast permits encode 0          nobody begins any more
  holdfast permits encode default    the programs decide again
  holdfast show encode --kind semaphore

Exit codes: 0 done; 64 wrong arguments; 69 Redis is unreachable, or refuses.
`,
  limit: `
Types:
  rolling    a bucket of --max that refills evenly, over --per
  gcra       the same, with a --burst of its own
  window     a count that ends --per after its first charge
  sliding    at most --max in any period of --per, exactly
  lifetime   a count that never ends

Examples:
  holdfast limit sms user:7 --max 10 --per 1h && ./send-sms user:7
  holdfast limit export user:7 --max 500 --per 1d --cost 120
  holdfast limit sms user:7 --max 10 --per 1h --peek
  holdfast limit trial acme --type lifetime --max 30 --json | jq .remaining

Exit codes: 0 allowed and charged; 75 refused, nothing was charged; 69 Redis is
unreachable, the charge may have been made; 64 wrong arguments.
`,
  limits: `
Examples:
  holdfast limits ls
  holdfast limits ls 'login*' --target '10.*'
  holdfast limits show sms user:7
  holdfast limits reset sms user:7

Exit codes: 0 done; 1 you said no; 64 wrong arguments; 69 Redis is unreachable,
or refuses.

These commands do not show guards. The program that has a guard does:
guard.look(subject), guard.pardon(subject).
`,
  limitsLs: `
USED is the amount in use now, RESET the time until that is 0. Redis does not
know how much fits: only the programs do. A target sha256:… is a digest, under
which the middleware counts a key of more than 200 characters.

Examples:
  holdfast limits ls
  holdfast limits ls 'login*' --target '10.*'
  holdfast limits ls --json | jq -r '.limits[].target'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  limitsShow: `
Examples:
  holdfast limits show sms user:7
  holdfast limits show sms user:7 --json | jq '.limits[0].used // 0'

Exit codes: 0, also when nothing is used; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  limitsReset: `
A process that remembers a refusal keeps refusing until the time to try again.

Examples:
  holdfast limits reset sms user:7
  holdfast limits reset sms user:7 --yes

Exit codes: 0 done, or nothing was used; 1 you said no; 64 wrong arguments;
69 Redis is unreachable, or refuses.
`,
  record: `
Examples:
  holdfast record put flags '{"newCheckout": true}'
  holdfast record get flags
  holdfast record watch flags
  holdfast record ls 'flags*'

A version rises with every put and delete, and never repeats. With --if-version,
a write is refused when somebody else has changed the record since.
`,
  recordGet: `
Examples:
  holdfast record get flags | jq .newCheckout
  holdfast record get flags --json | jq -r .version
  holdfast record get motd --raw
  holdfast record get price:7 --tag shop

Exit codes: 0 done; 1 the record has no value; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  recordPut: `
Text through stdin is taken as it is, with its last line break.

Examples:
  holdfast record put flags '{"newCheckout": true}'
  holdfast record put flags '{}' --if-version 1795255757243006
  holdfast record put flags '{}' --if-version 0        only the first time
  holdfast record put motd --text 'Back at noon.' --keep 4h
  holdfast record put logo --bytes < logo.png

Exit codes: 0 written; 3 the record has another version than --if-version,
which is shown with its value; 64 wrong arguments; 69 Redis is unreachable, or
refuses: the value may have been written.
`,
  recordDelete: `
Examples:
  holdfast record delete flags
  holdfast record delete flags --yes --if-version 1795255757243006

Exit codes: 0 deleted, or it had no value; 1 you said no; 3 the record has
another version than --if-version, or changed during the question; 64 wrong
arguments; 69 Redis is unreachable, or refuses.
`,
  recordWatch: `
Each line has the time, the version and the value. A slow reader gets the newest
state, and misses those in between.

Examples:
  holdfast record watch flags
  holdfast record watch flags --json | jq -c .value

Exit codes: 0 you ended it, or the reader of the output is gone; 64 wrong
arguments; 69 Redis is unreachable, or refuses.
`,
  recordLs: `
CHANGED is the time of the last write, by the server's clock. FENCE is the
newest fence that was served. --json has each whole value up to 10,000 bytes.

Examples:
  holdfast record ls
  holdfast record ls 'price:*' --tag shop
  holdfast record ls --json | jq -r '.records[].name'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  reset: `
A latch begins with its whole count, also with another one than before. Parties
that wait at a barrier arrive again. Waits go on.

Examples:
  holdfast reset start --kind latch
  holdfast reset round --kind barrier --yes

Exit codes: 0 done, or it was not in use; 1 you said no; 64 wrong arguments;
69 Redis is unreachable, or refuses.
`,
  signal: `
Examples:
  holdfast signal wait deployed && ./after-deploy.sh
  holdfast signal emit deployed '{"version": 7}'
  holdfast signal emit job --one
  holdfast ls --kind signal                 who waits

A signal is not kept: whoever does not wait at that moment misses it.
`,
  signalEmit: `
Prints how many waiters and listeners heard it; those that wait for a pattern
are not counted. With --one, it prints 1 once a waiter has the signal.

Examples:
  holdfast signal emit deployed
  holdfast signal emit deployed '{"version": 7}'
  holdfast signal emit job --one --text 'report 7'
  holdfast signal emit logo --bytes - < logo.png

Exit codes: 0 done, also when nobody heard it; 1 with --one: nobody waits;
64 wrong arguments; 69 Redis is unreachable, or refuses: it may have been heard.
`,
  signalWait: `
Prints the data as JSON, or as base64 for bytes, and nothing if it has none.
With several names, and with --matching, the name comes first. The wait begins
when the server has confirmed it; --json then says {"event":"waiting"} on
stderr.

Examples:
  holdfast signal wait deployed && ./after-deploy.sh
  holdfast signal wait deployed failed --wait 1h
  holdfast signal wait left right --all
  holdfast signal wait 'order:*' --matching --json | jq -r '.signals[0].name'

Exit codes: 0 heard; 75 no signal came within --wait; 64 wrong arguments;
69 Redis is unreachable, or refuses.
`,
  doctor: `
Examples:
  holdfast doctor
  holdfast doctor --accept persistence,replication
  holdfast doctor --json | jq '.findings[].code'

Exit codes: 0 no finding needs action; 1 an error or a warning that is not
accepted; 64 wrong arguments; 69 Redis is unreachable, or refuses. For the
options of your program's client, call hf.doctor() in your program.
`,
  completion: `
Set up:
  bash   eval "$(holdfast completion bash)"                  in ~/.bashrc
  zsh    eval "$(holdfast completion zsh)"                   in ~/.zshrc, after compinit
  fish   holdfast completion fish > ~/.config/fish/completions/holdfast.fish
`,
  lab: `
Each experiment plays a naive recipe and holdfast under the same faults, in a
simulation around a real Valkey: minutes pass in a second, and the same seed
plays the same. Checkers find the faults. Your Redis receives nothing.

Examples:
  holdfast lab                          what there is
  holdfast lab 1                        a pause longer than the lease
  holdfast lab 1 --seed 7 --out pages   another course of it, pages kept
  holdfast lab 1 --real                 with real processes and SIGSTOP
  holdfast lab --all --json | jq '.experiments[].asExpected'

Exit codes: 0 the naive recipes failed and holdfast held; 1 a side behaved
otherwise; 2 a run showed nothing, because its fault did not happen; 64 wrong
arguments; 69 the package @holdfast/lab is not installed; 74 the output cannot
be written.
`,
  embedded: `
Examples:
  holdfast embedded
  holdfast embedded --port 0 --json

Ctrl-C ends it, and its data with it. Exit codes: 0 ended; 64 wrong arguments;
69 the port is in use.
`,
} as const;
