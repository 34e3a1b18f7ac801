/** Where the server keeps the messages of lanes, and what the records say of it: the keys of lanes/lua/_lanes.lua. */
import type { Node } from "../../../node.js";
import { onlyInOne, readAll, twiceIn } from "../places.js";

interface Rec {
  readonly inFlight: number;
  readonly isReady: boolean;
  readonly returned: number;
  readonly later: number;
  readonly cancelled: number;
}

/** Of a message, as "<lane> <number>". */
interface Found {
  readonly recs: ReadonlyMap<string, Rec>;
  readonly out: readonly string[];
  readonly returned: readonly string[];
  readonly later: readonly string[];
  readonly cancelled: readonly string[];
}

/** What contradicts the places; null: nothing. */
export function misplaced(node: Node, main: string, lists: readonly string[]): string | null {
  const all = readAll(node, [
    ["HGETALL", `${main}:rec`],
    ["LRANGE", `${main}:ready`, "0", "-1"],
    ["HKEYS", `${main}:off`],
    ["ZRANGE", `${main}:away`, "0", "-1"],
    ["ZRANGE", `${main}:again`, "0", "-1"],
    ["ZRANGE", `${main}:cancelled`, "0", "-1"],
    ["HGET", main, "waiting"],
    ...lists.map((lane) => ["LLEN", `${main}:lane:${lane}`]),
  ]);
  if (!all) return null;
  const [fields = [], ready = [], off = [], away = [], again = [], cancelled = [], counted, ...lengths] = all;
  const recs = recsIn(fields);
  const out = away.map((handle) => handle.replace(/^\d+:(\d+):[^:]*:[^:]*:(.*)$/, "$2 $1"));
  const back = (kind: string): string[] =>
    again.flatMap((member) => {
      const [own, lane, number] = member.split(" ");
      return own === kind ? [`${lane} ${number}`] : [];
    });
  const [returned, later] = [back("r"), back("w")];
  const waiting = lengths.reduce((sum, [length]) => sum + Number(length), 0);
  if (Number(counted?.[0]) !== waiting) return `${counted?.[0]} bodies are counted, and ${waiting} wait`;
  const twice = twiceIn([...out, ...returned, ...later]) ?? twiceIn(ready);
  if (twice !== undefined) return `${twice} is in two places`;
  const members = [...returned, ...later].map((one) => one.replace(/^(.*) (\d+)$/, "back:$2:$1"));
  const loose = onlyInOne([...away, ...members], off);
  if (loose !== undefined) return `${loose} has a body or a place alone`;
  const marked = [...recs].flatMap(([lane, { isReady }]) => (isReady ? [lane] : []));
  const turn = onlyInOne(marked, ready);
  if (turn !== undefined) return `the lane ${turn} and its record disagree on its turn`;
  const without = [...lists, ...[...out, ...returned, ...later, ...cancelled].map(laneOf)].find(
    (lane) => !recs.has(lane),
  );
  if (without !== undefined) return `the lane ${without} has messages, and no record`;
  return miscounted({ recs, out, returned, later, cancelled });
}

/** As lanes/lua/_rec.lua writes them. */
function recsIn(fields: readonly string[]): ReadonlyMap<string, Rec> {
  const recs = new Map<string, Rec>();
  for (let place = 0; place < fields.length; place += 2) {
    const [, out = "-", state, , , , , , , returned, later, cancelled] = (fields[place + 1] ?? "").split(" ");
    recs.set(fields[place] ?? "", {
      inFlight: out === "-" ? 0 : out.split(",").length,
      isReady: state === "R",
      returned: Number(returned ?? 0),
      later: Number(later ?? 0),
      cancelled: Number(cancelled ?? 0),
    });
  }
  return recs;
}

function laneOf(message: string): string {
  return message.split(" ")[0] ?? "";
}

function miscounted({ recs, out, returned, later, cancelled }: Found): string | null {
  for (const [lane, rec] of recs) {
    const of = (messages: readonly string[]): number => messages.filter((one) => laneOf(one) === lane).length;
    const pairs = [
      ["in flight", rec.inFlight, of(out)],
      ["returned", rec.returned, of(returned)],
      ["later", rec.later, of(later)],
      ["cancelled", rec.cancelled, of(cancelled)],
    ] as const;
    const wrong = pairs.find(([, said, found]) => said !== found);
    if (wrong) return `the record of ${lane} says ${wrong[1]} ${wrong[0]}, and there are ${wrong[2]}`;
  }
  return null;
}
