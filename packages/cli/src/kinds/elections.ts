/** Elections, as `ls`, `show` and `watch` show them. */
import type { ElectionState } from "holdfast";
import { showDuration } from "../duration.js";
import { ownerCell, ownerText } from "../output/owner.js";
import { printable } from "../output/text.js";
import { valueText } from "../output/values.js";
import type { Detail, Kind } from "./kind.js";

export const elections: Kind<ElectionState> = {
  name: "election",
  plural: "elections",
  none: "no election has a leader or a candidate",
  columns: [
    { head: "ELECTION", align: "left", shrinks: true, rank: 6 },
    { head: "LEADER", align: "left", shrinks: true, rank: 5 },
    { head: "TERM", align: "right", shrinks: false, rank: 3 },
    { head: "LEFT", align: "right", shrinks: false, rank: 4 },
    { head: "CANDIDATES", align: "right", shrinks: false, rank: 2 },
    { head: "VALUE", align: "left", shrinks: true, rank: 1 },
  ],
  list: (inspector, pattern) => inspector.elections({ pattern }),
  look: (inspector, name) => inspector.election(name),
  cells: ({ name, leader, waiting }) => [
    printable(name),
    leader ? ownerCell(leader) : "nobody",
    leader ? String(leader.term) : "",
    leader ? showDuration(leader.remainingMs) : "",
    waiting > 0 ? String(waiting) : "",
    leader?.announced ? valueText(leader.value) : "",
  ],
  isIdle: ({ leader }) => leader === null,
  details: ({ leader, term, candidates, waiting }) => [
    ["led by", leader ? ownerText(leader) : "nobody"],
    ...(leader ? leaderOf(leader) : [["last term", String(term)] as const]),
    ["candidates", String(waiting)],
    ...candidates.map((candidate): Detail => ["", ownerText(candidate)]),
  ],
  sum(all) {
    const led = all.filter(({ leader }) => leader).length;
    return `${led} of ${all.length} have a leader`;
  },
  /** `leader`: another one than before, or another term; `nobody`; `candidates`: more or fewer. */
  changeOf(before, now) {
    if (now.leader && now.leader.term !== before?.leader?.term) return "leader";
    if (!now.leader && before?.leader) return "nobody";
    return now.waiting !== (before?.waiting ?? 0) ? "candidates" : null;
  },
  told(event, { leader, waiting }) {
    if (event === "candidates") return `${waiting} candidates`;
    return leader ? `led by ${ownerText(leader)}, term ${leader.term}` : "led by nobody";
  },
  gone: (before) =>
    before.leader && { event: "nobody", state: { ...before, leader: null, candidates: [], waiting: 0 } },
};

function leaderOf(leader: NonNullable<ElectionState["leader"]>): readonly Detail[] {
  return [
    ["term", String(leader.term)],
    ["value", leader.announced ? valueText(leader.value) : "not announced yet"],
    ["left", showDuration(leader.remainingMs)],
  ];
}
