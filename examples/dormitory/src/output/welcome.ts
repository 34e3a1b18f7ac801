/** What to try, printed when the application is open. */
import Table from "cli-table3";
import pc from "picocolors";
import { passwordOf } from "../data/passwords.js";
import type { SeedBatch } from "../data/seed.js";
import { ADMINISTRATOR } from "../data/seed.js";
import type { Options } from "../options.js";
import type { Application } from "../start.js";

const BARE = {
  chars: Object.fromEntries(
    "top,top-mid,top-left,top-right,bottom,bottom-mid,bottom-left,bottom-right,left,left-mid,mid,mid-mid,right,right-mid"
      .split(",")
      .map((part) => [part, ""]),
  ),
  style: { "padding-left": 1, "padding-right": 2, head: [], border: [] },
};

type Account = readonly [number: string, who: string];

const TO_TRY = [
  "To try:",
  "  • Sign in as the first student, and grab a room along the wishes. Regret, and pick one by hand.",
  "  • Sign in as the two of a team in two browsers. Change the wishes in both, and see the second change refused.",
  "  • Sign in as the administrator. Watch a batch, edit it while students choose, archive it.",
  "  • In another terminal: npm run dormitory -- --load",
  "",
];

const ACCOUNTS_OF_OLD: readonly Account[] = [[ADMINISTRATOR, "administrator"]];

export function welcomeTo({ url, server, data, isOld }: Application, options: Options): string {
  const seed = String(options.seed);
  const table = new Table({
    head: ["number", "password", "who"].map(pc.dim),
    ...BARE,
    chars: { ...BARE.chars, middle: "" },
  });
  const accounts = isOld ? ACCOUNTS_OF_OLD : sampleAccounts(data);
  for (const [number, who] of accounts) table.push([number, passwordOf(seed, number), who]);
  return [
    "",
    `The dormitory selection is open at ${pc.bold(pc.underline(url))}`,
    pc.dim(
      `  ${options.servers} web servers, ${options.workers} workers, ${server}, ${options.students.toLocaleString("en")} students`,
    ),
    ...(isOld ? [pc.dim("  with the data of an earlier start, and the passwords of its --seed")] : []),
    "",
    table.toString(),
    "",
    ...(isOld ? [] : TO_TRY),
    pc.dim("Ctrl-C ends everything."),
    "",
  ].join("\n");
}

function sampleAccounts(data: readonly SeedBatch[]): Account[] {
  const [open, soon, team] = data;
  const alone = (batch: SeedBatch | undefined): string | undefined =>
    batch?.teams.find(({ members }) => members.length === 1)?.members[0];
  const [one, other] = (team ?? open)?.teams.find(({ members }) => members.length > 1)?.members ?? [];
  const rows: [string | undefined, string][] = [
    [alone(open), `student, ${open?.name}: open, decides under ${open?.way}`],
    [alone(soon), `student, ${soon?.name}: starts within a minute, decides in ${soon?.way}`],
    [one, `student in a team, ${team?.name}: starts in about two minutes`],
    [other, "student of the same team"],
    [ADMINISTRATOR, "administrator"],
  ];
  return rows.flatMap(([number, who]) => (number === undefined ? [] : [[number, who]]));
}
