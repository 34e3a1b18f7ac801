/** The tables of docs/guides/capacity.md. */
import { type Cost, costsOf, few, idleConsumerUs, intervalOf, many, sizesOf } from "./costs.js";
import type { Row } from "./load.js";
import { clientShare, clientUsEach, perSecond, perUnit, type Rate, serverShare } from "./rates.js";
import { type CapacityRecord, processesOf, rowOf, short, type Way } from "./record.js";

/** By the names of their places in the page. */
export function tablesOf(record: CapacityRecord): Readonly<Record<string, string>> {
  return {
    run: runsOf(record),
    one: tableOfOne(record),
    processes: tableOfProcesses(record),
    server: tableOfServer(record),
    ends: tableOfEnds(record),
    formula: formulaOf(record),
  };
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
}

function runsOf(record: CapacityRecord): string {
  const told = (["virtual", "real", "server"] as const).map((name) => {
    const { at, machine, failed } = record[name];
    const on = name === "virtual" ? "" : `, ${machine.cpu}, ${machine.cores} cores`;
    const load = name === "virtual" ? "" : `, load before ${machine.loadBefore}`;
    const without = failed.length === 0 ? "" : `; without figures: ${failed.join("; ")}`;
    return `- ${name}: ${at.slice(0, 16).replace("T", " ")} UTC, ${machine.server}, Node.js ${machine.node}${on}${load}${without}`;
  });
  return told.join("\n");
}

interface Line {
  readonly title: string;
  readonly row: Row | undefined;
  readonly per: "second" | "unit";
  readonly bytes?: number;
}

function tableOfOne(record: CapacityRecord): string {
  const row = (load: string, phase: string, processes: number) =>
    rowOf(record, "virtual", load, phase, processes);
  const sizes = sizesOf(record);
  const keep = (load: string, processes: number): Pick<Line, "row" | "per"> => ({
    row: row(load, "keep", processes),
    per: "second",
  });
  const unit = (load: string, phase: string, processes: number): Pick<Line, "row" | "per"> => ({
    row: row(load, phase, processes),
    per: "unit",
  });
  const lines: Line[] = [
    { title: "locks held, in one process", ...keep("held", few), bytes: sizes.held },
    { title: "locks held, each in its own process", ...keep("held", many), bytes: sizes.held },
    { title: "names released within a day", row: undefined, per: "second", bytes: sizes.released },
    { title: "callers in line, in one process", ...keep("waiting", few), bytes: sizes.waiting },
    { title: "callers in line, each in its own process", ...keep("waiting", many), bytes: sizes.waiting },
    { title: "cycles of a lock that nobody else wants", ...unit("hand-over", "turns", few) },
    { title: "turns of a lock that 1,000 processes want", ...unit("hand-over", "turns", many) },
    { title: "refused calls, in one process", ...unit("refused", "call", few) },
    { title: "refused calls, in 1,000 processes", ...unit("refused", "call", many) },
    { title: "refused calls, `cache: false`", ...unit("refused-uncached", "call", few) },
    { title: "messages pushed, one by one", ...unit("queued", "push", few), bytes: sizes.message },
    { title: "messages pushed, 100 at once", ...unit("queued-together", "push", few), bytes: sizes.message },
    { title: "messages consumed, one at a time", ...unit("queued", "consume", few) },
    { title: "messages consumed, 16 at a time", ...unit("queued-together", "consume", few) },
    { title: "idle consumers, each in its own process", row: row("queued", "stand", many), per: "second" },
    { title: "connected processes that do nothing", row: undefined, per: "second", bytes: sizes.process },
  ];
  return table(
    ["1,000 …", "requests", "commands", "bytes for each"],
    lines.map(({ title, row: found, per, bytes }) => [
      title,
      found ? perThousand(found, found.requests, per) : "0",
      found ? perThousand(found, found.commands, per) : "0",
      bytes === undefined ? "" : short(Math.round(bytes)),
    ]),
  );
}

function perThousand(row: Row, count: number, per: Line["per"]): string {
  const each = count / (per === "second" ? row.seconds : row.done);
  return per === "second" ? `${short(each)} a second` : short(each * 1_000);
}

interface Measure {
  readonly title: string;
  readonly load: string;
  readonly phase: string;
  readonly ways: readonly Way[];
  readonly of: Rate;
}

const counts: readonly Way[] = ["virtual", "real"];

/** Both counts, and what both sides compute. */
function steady(title: string, load: string, phase: string): Measure[] {
  return [
    { title: `${title}: requests/s`, load, phase, ways: counts, of: perSecond("requests") },
    { title: `${title}: commands/s`, load, phase, ways: counts, of: perSecond("commands") },
    { title: `${title}: CPU of all clients, % of a core`, load, phase, ways: ["real"], of: clientShare },
    { title: `${title}: CPU of the server, % of a core`, load, phase, ways: ["real"], of: serverShare },
  ];
}

function each(title: string, load: string, phase: string): Measure[] {
  return [
    { title: `${title}: requests`, load, phase, ways: counts, of: perUnit("requests") },
    { title: `${title}: commands`, load, phase, ways: counts, of: perUnit("commands") },
    {
      title: `${title}: CPU of all clients, µs`,
      ...{ load, phase, ways: ["real"] as const },
      of: clientUsEach,
    },
  ];
}

const measures: readonly Measure[] = [
  ...steady("1,000 locks held", "held", "keep"),
  ...steady("1,000 callers in line", "waiting", "keep"),
  ...each("one turn of a hot lock", "hand-over", "turns"),
  ...each("one refused call", "refused", "call"),
  ...each("one refused call, with blocks", "refused-block", "call"),
  ...each("one refused call, `cache: false`", "refused-uncached", "call"),
  ...each("one push, one by one", "queued", "push"),
  ...each("one message consumed, 1 at a time", "queued", "consume"),
  ...each("one push, 100 at once", "queued-together", "push"),
  ...each("one message consumed, 16 at a time", "queued-together", "consume"),
  ...steady("a consumer in each process, idle", "queued", "stand"),
];

function tableOfProcesses(record: CapacityRecord): string {
  const columns = processesOf(record.virtual);
  const rows = measures.flatMap(({ title, load, phase, ways, of }) =>
    ways.map((way) => [
      title,
      way,
      ...columns.map((processes) => {
        const row = rowOf(record, way, load, phase, processes);
        return row ? short(of(row)) : "";
      }),
    ]),
  );
  return table(["with N processes", "", ...columns.map(short)], rows);
}

function tableOfServer(record: CapacityRecord): string {
  return table(
    ["one …", "CPU of the server, µs", "in its scripts, µs", "at 100 % of a core, per second", "measured"],
    [...costsOf(record).values()].map(({ title, serverUs, scriptUs, perSecond: reached, share }) => [
      title,
      short(serverUs),
      scriptUs === 0 ? "" : short(scriptUs),
      short(1_000_000 / serverUs),
      `${short(reached)}/s at ${short(Math.round(share * 100))} %`,
    ]),
  );
}

function tableOfEnds(record: CapacityRecord): string {
  const costs = costsOf(record);
  const sizes = sizesOf(record);
  const most = (key: string, everyS: number) => (1_000_000 * everyS) / usOf(costs.get(key));
  const gigabytes = (bytes: number) => `${short((bytes * 1_000_000) / 2 ** 30)} GiB`;
  const [renewedS, beatS] = [intervalOf(record, "held"), intervalOf(record, "waiting")];
  return table(
    ["", "one core of the server carries", "a million occupy"],
    [
      [
        "locks held, many in each process",
        short(most("renew-together loop", renewedS)),
        gigabytes(sizes.held),
      ],
      [
        "locks held, each in its own process",
        short(most("renew-alone loop", renewedS)),
        gigabytes(sizes.held),
      ],
      ["names released within a day", "no limit", gigabytes(sizes.released)],
      [
        "callers in line, many in each process",
        short(most("beat-together loop", beatS)),
        gigabytes(sizes.waiting),
      ],
      [
        "callers in line, each in its own process",
        short(most("beat-alone loop", beatS)),
        gigabytes(sizes.waiting),
      ],
      ["idle consumers", short(1_000_000 / idleConsumerUs(record)), ""],
      ["messages that wait, of 100 bytes", "no limit", gigabytes(sizes.message)],
      ["processes", "no limit", gigabytes(sizes.process)],
    ],
  );
}

function usOf(cost: Cost | undefined): number {
  return cost?.serverUs ?? Number.NaN;
}

function formulaOf(record: CapacityRecord): string {
  const costs = costsOf(record);
  const sizes = sizesOf(record);
  const us = (key: string) => short(usOf(costs.get(key))).padStart(6);
  const a = (key: string, everyS: number) => short(usOf(costs.get(key)) / everyS).padStart(6);
  const bytes = (size: number) => short(Math.round(size)).padStart(6);
  return [
    "```",
    "µs of the server a second =",
    `  ${a("renew-together loop", intervalOf(record, "held"))} × locks held, many in each process`,
    `+ ${a("renew-alone loop", intervalOf(record, "held"))} × locks held, one in each process`,
    `+ ${a("beat-together loop", intervalOf(record, "waiting"))} × callers in line, many in each process`,
    `+ ${a("beat-alone loop", intervalOf(record, "waiting"))} × callers in line, one in each process`,
    `+ ${short(idleConsumerUs(record)).padStart(6)} × idle consumers`,
    `+ ${us("cycle loop")} × acquires and releases of free locks, per second`,
    `+ ${us("crowd loop")} × turns of locks that others wait for, per second`,
    `+ ${us("check loop")} × checks that reach the server, per second`,
    `+ ${short(usOf(costs.get("queued push")) + usOf(costs.get("queued consume"))).padStart(6)} × messages, one at a time, per second`,
    `+ ${short(usOf(costs.get("queued-together push")) + usOf(costs.get("queued-together consume"))).padStart(6)} × messages, many at a time, per second`,
    "",
    "bytes at the server =",
    `  ${bytes(sizes.held)} × locks held`,
    `+ ${bytes(sizes.released)} × names released within a day`,
    `+ ${bytes(sizes.waiting)} × callers in line`,
    `+ ${bytes(sizes.message)} × messages of 100 bytes that wait`,
    `+ ${bytes(sizes.process)} × processes`,
    "```",
  ].join("\n");
}
