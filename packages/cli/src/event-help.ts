/** What the help of `holdfast event` says below the options. */
export const EVENT_HELP = {
  all: `
Examples:
  holdfast event wait imported --wait 1h && ./report.sh
  holdfast event set imported '{"rows": 1200}'
  holdfast event get imported
  holdfast event clear imported
  holdfast ls --kind event
`,
  get: `
The version is that of the last set or clear. event wait --after takes it.

Examples:
  holdfast event get imported
  holdfast event get imported --json | jq -r .version

Exit codes: 0 it is set; 1 it is not; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  set: `
Examples:
  holdfast event set imported
  holdfast event set imported '{"rows": 1200}'
  holdfast event set motd --text 'Back at noon.'

Exit codes: 0 set; 64 wrong arguments; 69 Redis is unreachable, or refuses: the
event may be set, and may be set again.
`,
  clear: `
Examples:
  holdfast event clear imported

Exit codes: 0 cleared, or it was not set; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
  wait: `
Without --after the wait ends at once when the event is set. With the version of
an earlier set, it ends with a later one, also if that was cleared since.

Examples:
  holdfast event wait imported
  holdfast event wait imported --wait forever --json | jq .value
  holdfast event wait imported --after 1795255757243006

Exit codes: 0 it is set; 75 not within --wait; 64 wrong arguments; 69 Redis is
unreachable, or refuses.
`,
} as const;
