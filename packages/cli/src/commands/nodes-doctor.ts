/** `holdfast doctor` over several servers: each server, and what puts a Redlock over them at risk. */
import type { Finding, ServerFacts } from "holdfast";
import type { NodeState } from "holdfast/redlock";
import { showDuration } from "../duration.js";
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { colorsFor, jsonOf, printLine } from "../output/output.js";
import { type Column, tableOf } from "../output/table.js";
import { printable } from "../output/text.js";
import { rulerFor } from "../output/width.js";
import { newQuorum } from "../quorum.js";
import type { Settings } from "../settings.js";
import {
  examine,
  findingsLines,
  type Judgement,
  judgedFindings,
  reportLines,
  verdict,
} from "./examination.js";
import { roomIn } from "./look.js";

/** One server: its own report, and its vote. */
interface NodeReport extends Judgement {
  readonly node: string;
  readonly membership: NodeState["membership"];
  readonly reason: string | null;
  readonly leftMs: number;
  readonly incarnation: string | null;
}

/** A grant names a token this much ahead of a node's clock at most: ADR 0021. */
const CLOSE_CLOCKS_MS = 10;
/** Leases end early or late by such a difference, once it changes. */
const WRONG_CLOCK_MS = 1_000;

const COLUMNS: readonly Column[] = [
  { head: "NODE", align: "left", shrinks: true, rank: 6 },
  { head: "VOTES", align: "left", shrinks: false, rank: 5 },
  { head: "SERVER", align: "left", shrinks: true, rank: 1 },
  { head: "UP", align: "right", shrinks: false, rank: 3 },
  { head: "CLOCK", align: "right", shrinks: false, rank: 4 },
  { head: "KEEPS", align: "left", shrinks: false, rank: 2 },
];

/** @param accepted codes of findings that do not count */
export async function doctorOfNodes(accepted: readonly string[], settings: Settings): Promise<number> {
  const { nodes, report } = await interruptible(async (signal) => {
    const { states, maxTtlMs } = await quorumOf(settings, signal);
    const reports: NodeReport[] = [];
    // One after the other: each measures its clock and its round trip.
    for (const [place, url] of settings.redisUrls.entries()) {
      const { report: own } = await examine(url, accepted, settings, signal);
      reports.push({ ...voteOf(states[place]), ...own });
    }
    return { nodes: reports, report: judgedFindings(comparison(reports, maxTtlMs, settings), accepted) };
  });
  const healthy = report.healthy && nodes.every((node) => node.healthy);
  const all = { healthy, findings: report.findings, nodes };
  if (settings.json) printLine(jsonOf(all));
  else for (const line of await linesOf(all)) printLine(line);
  if (nodes.filter(({ membership }) => membership !== "unreachable").length * 2 <= nodes.length)
    return EXIT.unavailable;
  return healthy ? EXIT.ok : EXIT.no;
}

/** The states are in the order of the servers. Fewer than a majority may answer. */
async function quorumOf(
  settings: Settings,
  signal: AbortSignal,
): Promise<{ readonly states: readonly NodeState[]; readonly maxTtlMs: number }> {
  const quorum = newQuorum(settings);
  try {
    await quorum.connect(signal).catch(() => signal.throwIfAborted());
    const { redlock } = quorum;
    return { states: await redlock.nodes(), maxTtlMs: redlock.maxTtlMs };
  } finally {
    await quorum.close();
  }
}

function voteOf(state: NodeState | undefined): Omit<NodeReport, keyof Judgement> {
  const {
    name = "",
    membership = "unreachable",
    reason = null,
    leftMs = 0,
    incarnation = null,
  } = state ?? {};
  return { node: name, membership, reason, leftMs, incarnation };
}

/** What no server can say alone. */
function comparison(nodes: readonly NodeReport[], maxTtlMs: number, settings: Settings): readonly Finding[] {
  const all = [votes(nodes), sameServer(nodes), number(nodes), clocks(nodes)];
  return [...all, persistence(nodes, maxTtlMs, settings), versions(nodes)].flat();
}

function votes(nodes: readonly NodeReport[]): readonly Finding[] {
  const silent = nodes.filter(({ membership }) => membership !== "voting");
  if (silent.length === 0) return [];
  const isQuorum = (nodes.length - silent.length) * 2 > nodes.length;
  return [
    {
      code: "nodes-votes",
      severity: isQuorum ? "warning" : "error",
      found: silent.map(({ reason }) => reason).join("; "),
      consequence: isQuorum
        ? "Locks go on. With fewer servers that vote, fewer of them may fail."
        : "No lock can be taken, and those that are held end with their leases.",
      remedy:
        "Start the server, or wait for the end of its quarantine. A replica or a node of a cluster cannot vote.",
    },
  ];
}

function sameServer(nodes: readonly NodeReport[]): readonly Finding[] {
  const known = nodes.filter(({ incarnation }) => incarnation !== null);
  const twice = known.find((node, place) =>
    known.slice(0, place).some(({ incarnation }) => incarnation === node.incarnation),
  );
  if (!twice) return [];
  const first = known.find(({ incarnation }) => incarnation === twice.incarnation);
  return [
    {
      code: "nodes-same",
      severity: "error",
      found: `nodes ${first?.node} and ${twice.node} are one server`,
      consequence: "It has two votes. When it fails, both are gone.",
      remedy: "Name each server once.",
    },
  ];
}

function number({ length }: readonly NodeReport[]): readonly Finding[] {
  if (length % 2 === 1) return [];
  return [
    {
      code: "nodes-number",
      severity: "info",
      found: `there are ${length} nodes, an even number`,
      consequence: `A majority is ${length / 2 + 1}, so ${length / 2 - 1} may fail: no more than of ${length - 1} nodes.`,
      remedy: `Use ${length - 1} or ${length + 1} nodes, unless one clock that is set forward must not let a second holder in.`,
    },
  ];
}

/** By how much the clocks differ for certain. */
function clocks(nodes: readonly NodeReport[]): readonly Finding[] {
  const read = nodes.flatMap(({ node, facts: { clockOffsetMs, clockUncertaintyMs } }) =>
    clockOffsetMs === null ? [] : [{ node, aheadMs: clockOffsetMs, unsureMs: clockUncertaintyMs ?? 0 }],
  );
  const [last] = [...read].sort((one, other) => one.aheadMs - other.aheadMs);
  const [first] = [...read].sort((one, other) => other.aheadMs - one.aheadMs);
  if (!first || !last) return [];
  const apartMs = first.aheadMs - last.aheadMs;
  const surelyMs = apartMs - first.unsureMs - last.unsureMs;
  if (surelyMs <= CLOSE_CLOCKS_MS) return [];
  return [
    {
      code: "nodes-clocks",
      severity: surelyMs > WRONG_CLOCK_MS ? "warning" : "info",
      found: `the clock of node ${first.node} is ${Math.round(apartMs)} ms ahead of that of node ${last.node}`,
      consequence:
        "An acquire takes a second round trip while its nodes differ by more than 10 ms. A clock that is set right later ends leases at its node early or late.",
      remedy: "Keep the clocks of all servers in step by NTP, which moves them slowly.",
    },
  ];
}

function persistence(nodes: readonly NodeReport[], maxTtlMs: number, settings: Settings): readonly Finding[] {
  const known = nodes.filter(({ facts }) => facts.persistence !== null);
  const forgetful = known.filter(({ facts }) => facts.persistence !== "always");
  const quarantineMs = settings.quarantineMs ?? maxTtlMs;
  const list = known.map(({ node, facts }) => `${node} ${facts.persistence}`).join(", ");
  if (quarantineMs < maxTtlMs && forgetful.length > 0) {
    return [
      {
        code: "nodes-persistence",
        severity: "warning",
        found: `the quarantine is ${showDuration(quarantineMs)}, shorter than the longest ttl, and not all nodes keep each command: ${list}`,
        consequence:
          "A node that restarts may vote again while a lease that it forgot is held: a second holder gets in.",
        remedy: "Leave --quarantine out, or set appendonly yes with appendfsync always at every node.",
      },
    ];
  }
  if (new Set(known.map(({ facts }) => facts.persistence)).size < 2) return [];
  return [
    {
      code: "nodes-persistence",
      severity: "info",
      found: `the nodes keep their data in different ways: ${list}`,
      consequence:
        "The quarantine protects locks over all of them. Tokens lean on the clocks of the nodes that forget.",
      remedy: "Give all nodes the same settings, unless that is meant.",
    },
  ];
}

function versions(nodes: readonly NodeReport[]): readonly Finding[] {
  const known = nodes.map(({ facts }) => serverOf(facts)).filter((text) => text !== "");
  if (new Set(known).size < 2) return [];
  return [
    {
      code: "nodes-versions",
      severity: "info",
      found: `the nodes run different servers: ${[...new Set(known)].join(", ")}`,
      consequence: "Locks work over a mix. A defect of one version is then at some of the nodes only.",
      remedy: "Nothing, while you upgrade one node after the other.",
    },
  ];
}

async function linesOf({
  healthy,
  findings,
  nodes,
}: Pick<Judgement, "healthy" | "findings"> & { readonly nodes: readonly NodeReport[] }): Promise<string[]> {
  const colors = colorsFor(host().stdout);
  const rows = nodes.map(({ node, membership, facts }) => cellsOf(node, membership, facts));
  const ruler = await rulerFor(rows.flat().join(""));
  const [head = "", ...lines] = tableOf(COLUMNS, rows, roomIn(host().stdout), ruler);
  return [
    colors.dim(head),
    ...lines,
    "",
    ...findingsLines(findings),
    ...nodes.flatMap((node) => [colors.bold(`node ${printable(node.node)}`), ...reportLines(node)]),
    verdict({ healthy, findings: [...findings, ...nodes.flatMap((node) => node.findings)] }, colors),
  ];
}

function cellsOf(node: string, membership: NodeState["membership"], facts: ServerFacts): readonly string[] {
  const { uptimeSeconds, clockOffsetMs, persistence: keeps } = facts;
  return [
    printable(node),
    membership === "voting" ? "yes" : membership,
    printable(serverOf(facts)),
    uptimeSeconds === null ? "" : showDuration(uptimeSeconds * 1_000),
    clockOffsetMs === null ? "" : `${clockOffsetMs < 0 ? "-" : "+"}${Math.abs(clockOffsetMs)} ms`,
    keeps ?? "",
  ];
}

function serverOf({ kind, version }: ServerFacts): string {
  return [kind, version].filter(Boolean).join(" ");
}
