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
  holdfast limit sms user:7 --max 10 --per 1h    once more, or refused

Exit codes:
  0 done; 1 the answer is no, or holdfast has a defect; 64 wrong arguments;
  69 Redis is unreachable, or refuses; 70 the lease was lost; 74 the output
  cannot be written; 75 the lock is busy, or the limit is used up; 126 the
  command cannot be executed; 127 there is no such command; 128+n signal n
  ended the command

The Redis comes from --redis or HOLDFAST_REDIS, the prefix from --prefix or
HOLDFAST_PREFIX. NO_COLOR declines colours.
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

Exit codes:
  the command's own, 128+n when signal n ended it; 75 the lock was not free
  within --wait; 70 the lease was lost, and holdfast stopped the command;
  69 Redis is unreachable, or refuses; 64 wrong arguments; 126 the command
  cannot be executed; 127 there is no such command
`,
  ls: `
Examples:
  holdfast ls
  holdfast ls 'deploy*'
  holdfast ls --json | jq -r '.locks[].name'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  show: `
Examples:
  holdfast show deploy
  holdfast show deploy --json | jq -r .holder.fence

Exit codes: 0, also when it is free; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  watch: `
Examples:
  holdfast watch
  holdfast watch deploy
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

Exit codes: 0 the lock was taken, or was free; 1 you said no; 75 another holder
has it than the question or --fence named; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
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
