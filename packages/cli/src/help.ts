/** What `--help` says after the options. */
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
  0 done; 1 no, or a defect; 64 wrong arguments; 69 Redis cannot be reached, or
  refuses; 70 the lease was lost; 74 the output cannot be written; 75 busy, or
  over the limit; 126 the command cannot be executed; 127 there is no such
  command; 128+n ended by signal n

The Redis comes from --redis or HOLDFAST_REDIS, the prefix from --prefix or
HOLDFAST_PREFIX. NO_COLOR declines colours.
`,
  lock: `
The command finds the lock's name in HOLDFAST_LOCK and the fencing token in
HOLDFAST_FENCE, a number that rises with every holder: whatever it writes to can
refuse a smaller one.

When the lease is lost, the command's process group gets SIGTERM and, after
--grace, SIGKILL. Signals sent to holdfast are passed on to the command.

Examples:
  holdfast lock deploy -- ./deploy.sh
  holdfast lock nightly --wait 0 -- sh -c 'backup && prune'
  holdfast lock account:13 --ttl 10s --wait 1m --label batch -- node pay.js

Exit codes:
  the command's own, 128+n when signal n ended it; 75 busy, or not free within
  --wait; 70 the lease was lost and the command stopped; 69 Redis cannot be
  reached; 64 wrong arguments; 126 and 127 the command cannot be executed, or
  does not exist
`,
  ls: `
Examples:
  holdfast ls
  holdfast ls 'deploy*'
  holdfast ls --json | jq -r '.locks[].name'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis cannot be
reached, or refuses.
`,
  show: `
Examples:
  holdfast show deploy
  holdfast show deploy --json | jq -r .holder.fence

Exit codes: 0, also when it is free; 64 wrong arguments; 69 Redis cannot be
reached, or refuses.
`,
  watch: `
Examples:
  holdfast watch
  holdfast watch deploy
  holdfast watch 'deploy*' --interval 200ms --json

Exit codes: 0 when you end it, or whoever read the output is gone; 64 wrong
arguments; 69 Redis cannot be reached, or refuses.
`,
  release: `
The fence rises above all that the old holder had, so that what it still writes
can be refused. Its lease ends at once, if its process listens: \`holdfast lock\`
then stops its command.

Examples:
  holdfast release deploy --force
  holdfast release deploy --force --yes --fence 1795255757243006

Exit codes: 0 taken, or free already; 1 you said no; 75 another holds it than was
meant; 64 wrong arguments; 69 Redis cannot be reached, or refuses.
`,
  limit: `
Types:
  rolling    a bucket of --max that regenerates evenly, over --per
  gcra       the same, with a --burst of its own
  window     a count that begins anew, --per after the first
  sliding    at most --max in any --per, exactly
  lifetime   a count that never begins anew

Examples:
  holdfast limit sms user:7 --max 10 --per 1h && ./send-sms user:7
  holdfast limit export user:7 --max 500 --per 1d --cost 120
  holdfast limit sms user:7 --max 10 --per 1h --peek
  holdfast limit trial acme --type lifetime --max 30 --json | jq .remaining

Exit codes: 0 allowed, and taken; 75 refused, and nothing was taken; 69 Redis
cannot be asked: it may have been taken; 64 wrong arguments.
`,
  limits: `
Examples:
  holdfast limits ls
  holdfast limits ls 'login*' --target '10.*'
  holdfast limits show sms user:7
  holdfast limits reset sms user:7

Exit codes: 0 done; 1 you said no; 64 wrong arguments; 69 Redis cannot be
reached, or refuses.

Guards are not seen here. The program that has one looks, and pardons:
guard.look(subject), guard.pardon(subject).
`,
  limitsLs: `
USED is what is used now, RESET how long until nothing is. How much fits is
known to the program that asks, not to Redis. A target sha256:… is a digest,
under which the middleware counts keys of more than 200 characters.

Examples:
  holdfast limits ls
  holdfast limits ls 'login*' --target '10.*'
  holdfast limits ls --json | jq -r '.limits[].target'

Exit codes: 0, also when there is none; 64 wrong arguments; 69 Redis cannot be
reached, or refuses.
`,
  limitsShow: `
Examples:
  holdfast limits show sms user:7
  holdfast limits show sms user:7 --json | jq '.limits[0].used // 0'

Exit codes: 0, also when nothing is used; 64 wrong arguments; 69 Redis cannot be
reached, or refuses.
`,
  limitsReset: `
A process that remembers a refusal goes on refusing until that is over.

Examples:
  holdfast limits reset sms user:7
  holdfast limits reset sms user:7 --yes

Exit codes: 0 done, or nothing was used; 1 you said no; 64 wrong arguments; 69
Redis cannot be reached, or refuses.
`,
  doctor: `
Examples:
  holdfast doctor
  holdfast doctor --accept persistence,replication
  holdfast doctor --json | jq '.findings[].code'

Exit codes: 0 nothing to mend; 1 an error or a warning that is not accepted; 64
wrong arguments; 69 Redis cannot be reached, or refuses. The options of your own
client are looked at by hf.doctor() in your program.
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
plays the same. What went wrong is found by checkers. Nothing is sent to your
Redis.

Examples:
  holdfast lab                          what there is
  holdfast lab 1                        a pause longer than the lease
  holdfast lab 1 --seed 7 --out pages   another course of it, pages kept
  holdfast lab 1 --real                 with real processes and SIGSTOP
  holdfast lab --all --json | jq '.experiments[].asExpected'

Exit codes: 0 the naive recipes failed and holdfast held; 1 not so; 2 a run
showed nothing: what had to happen first did not; 64 wrong arguments; 69 the
package @holdfast/lab is not installed; 74 the output cannot be written.
`,
  embedded: `
Examples:
  holdfast embedded
  holdfast embedded --port 0 --json

Ctrl-C ends it with exit code 0; the data is gone then. Exit code 69: the port
is in use.
`,
} as const;
