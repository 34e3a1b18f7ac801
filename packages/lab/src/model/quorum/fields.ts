/** Where each number of the quorum model is: first the nodes, column by column, then the attempts, then time. */
import type { Field } from "../model.js";
import type { QuorumTerms } from "./terms.js";

export interface QuorumPlaces {
  readonly fields: readonly Field[];
  /** Fields of one node. Node n begins at n * width. */
  readonly width: number;
  /** Within a node: who holds it (attempt + 1), its token, and what belongs to the hold or the token. */
  readonly holder: number;
  readonly token: number;
  readonly mark: number;
  /** How much longer it is silent; how far its clock is ahead; what it remembers of an earlier moment. */
  readonly silent: number;
  readonly ahead: number;
  readonly saved: number;
  /** Within a node, for attempt a at `+ a * each`: what its grant said, + 1; whether it confirmed; its clock then. */
  readonly each: number;
  readonly said: number;
  readonly confirmed: number;
  readonly clockSaid: number;
  /** Attempt a begins at `attempts + 3 * a`: its phase, its token, the largest issued before it began. */
  readonly attempts: number;
  readonly time: number;
  readonly lost: number;
  readonly late: number;
  readonly anew: number;
}

const TOKEN_BITS = 5;

export function quorumPlaces(terms: QuorumTerms): QuorumPlaces {
  const column: Field[] = [];
  const field = (present: boolean, name: string, bits: number): number =>
    present ? column.push({ name, bits }) - 1 : -1;
  const { clock, design } = terms;
  const holder = field(true, "holder", 3);
  const token = field(true, "token", TOKEN_BITS);
  const hasMark =
    design.confirms !== null && design.confirms !== "always" && design.confirms !== "while held";
  const mark = field(hasMark, "mark", TOKEN_BITS);
  const silent = field(clock !== null && terms.restarts > 0, "silent", 4);
  const ahead = field(clock !== null, "ahead", 4);
  const saved = field(terms.after !== "empty", "saved holder", 3);
  field(terms.after !== "empty", "saved token", TOKEN_BITS);
  field(terms.after !== "empty", "saved mark", TOKEN_BITS);
  const first = column.length;
  let [said, confirmed, clockSaid] = [-1, -1, -1];
  for (let attempt = 0; attempt < terms.attempts; attempt++) {
    const at = column.length;
    if (attempt === 0) said = at;
    field(true, `said to ${attempt + 1}`, TOKEN_BITS);
    const places = [
      field(design.confirms !== null, `confirmed to ${attempt + 1}`, 1),
      field(design.token === "max, median", `clock said to ${attempt + 1}`, TOKEN_BITS),
    ];
    if (attempt === 0) [confirmed, clockSaid] = places as [number, number];
  }
  const width = column.length;
  const fields: Field[] = [];
  for (let node = 0; node < terms.nodes; node++) {
    for (const { name, bits } of column) fields.push({ name: `${name} at ${nodeName(node)}`, bits });
  }
  const attempts = fields.length;
  for (let attempt = 1; attempt <= terms.attempts; attempt++) {
    fields.push({ name: `phase of ${attempt}`, bits: 3 });
    fields.push({ name: `token of ${attempt}`, bits: TOKEN_BITS });
    fields.push({ name: `issued before ${attempt}`, bits: TOKEN_BITS });
  }
  const time = clock ? fields.push({ name: "time", bits: 5 }) - 1 : -1;
  const lost = terms.restarts > 0 ? fields.push({ name: "restarts", bits: 3 }) - 1 : -1;
  const late = terms.late > 0 ? fields.push({ name: "late copies", bits: 3 }) - 1 : -1;
  const anew = terms.anew > 0 ? fields.push({ name: "stood anew", bits: 3 }) - 1 : -1;
  const each = (width - first) / terms.attempts;
  const places = { holder, token, mark, silent, ahead, saved, said, confirmed, clockSaid };
  return { fields, width, each, attempts, time, lost, late, anew, ...places };
}

export function nodeName(node: number): string {
  return String.fromCharCode(65 + node);
}
