/** An examination of one server, with what the user accepts of it, as lines for people. */
import type { DoctorReport, Finding, Severity } from "holdfast";
import { Failure } from "../failure.js";
import { host } from "../host.js";
import { type Colors, colorsFor } from "../output/output.js";
import { printable } from "../output/text.js";
import { sessionAt } from "../session.js";
import type { Settings } from "../settings.js";
import { roomIn } from "./look.js";

/** As the report has it, and whether the user has said that it may stay as it is. */
export interface Judged extends Finding {
  readonly accepted: boolean;
}

export interface Judgement extends DoctorReport {
  readonly findings: readonly Judged[];
}

/** Looks at one server. */
export async function examine(
  url: string,
  accepted: readonly string[],
  settings: Settings,
  signal: AbortSignal,
): Promise<{ readonly report: Judgement; readonly failure: Failure | null }> {
  const session = sessionAt(url, settings);
  try {
    await session.connect(signal);
    return { report: judged(await session.hf.doctor(), accepted), failure: null };
  } catch (error) {
    if (!(error instanceof Failure) || signal.aborted) throw error;
    return { report: unreachable(error), failure: error };
  } finally {
    await session.close();
  }
}

/** Its only finding comes first: nothing else could be looked at. */
function unreachable({ message }: Failure): Judgement {
  const unknown = { kind: null, version: null, mode: null, role: null, replicas: null, uptimeSeconds: null };
  return {
    healthy: false,
    findings: [
      {
        code: "unreachable",
        severity: "error",
        found: message,
        consequence: "No lock can be taken, and those that are held end with their leases.",
        remedy: "Look at the address, the network and the server. Nothing else could be looked at.",
        accepted: false,
      },
    ],
    facts: {
      ...unknown,
      persistence: null,
      maxMemoryBytes: null,
      evictionPolicy: null,
      roundTripMs: null,
      clockOffsetMs: null,
      clockUncertaintyMs: null,
    },
  };
}

/** The client is this command's own; that of a program is looked at by `hf.doctor()` in the program. */
function judged(report: DoctorReport, codes: readonly string[]): Judgement {
  const findings = report.findings.filter(({ code }) => !code.startsWith("client-"));
  return { ...report, ...judgedFindings(findings, codes) };
}

export function judgedFindings(
  all: readonly Finding[],
  codes: readonly string[],
): Pick<Judgement, "findings" | "healthy"> {
  const findings = all.map((finding) => ({ ...finding, accepted: codes.includes(finding.code) }));
  return { findings, healthy: !findings.some(({ severity, accepted }) => isBad(severity) && !accepted) };
}

function isBad(severity: Severity): boolean {
  return severity === "error" || severity === "warning";
}

const LONGEST_LINE = 100;

export function reportLines({ findings, facts }: Judgement): string[] {
  const width = Math.min(roomIn(host().stdout), LONGEST_LINE);
  const { kind, version, mode, role, roundTripMs, clockOffsetMs } = facts;
  const known = [
    [kind, version].filter(Boolean).join(" ") || "a server that does not say what it is",
    mode,
    role,
    roundTripMs === null ? null : `a call takes ${roundTripMs} ms`,
    clockOffsetMs === null ? null : `its clock is ${clockText(clockOffsetMs)}`,
  ];
  return [
    ...(findings[0]?.code === "unreachable"
      ? []
      : [...wrapped(known.filter(Boolean).join(", "), width, ""), ""]),
    ...findingsLines(findings),
  ];
}

export function findingsLines(findings: readonly Judged[]): string[] {
  const colors = colorsFor(host().stdout);
  const width = Math.min(roomIn(host().stdout), LONGEST_LINE);
  return findings.flatMap((finding) => [...findingLines(finding, width, colors), ""]);
}

export function verdict(
  { healthy, findings }: Pick<Judgement, "findings" | "healthy">,
  colors: Colors,
): string {
  if (!healthy) return colors.bold("Some findings need action.");
  const kept = findings.some(({ severity, accepted }) => isBad(severity) && accepted);
  return colors.green(kept ? "No other finding needs action." : "No finding needs action.");
}

function clockText(offsetMs: number): string {
  const text = `${Math.abs(offsetMs)} ms`;
  return offsetMs < 0 ? `${text} behind ours` : `${text} ahead of ours`;
}

function findingLines(
  { code, severity, found, consequence, remedy, accepted }: Judged,
  width: number,
  colors: Colors,
): string[] {
  const paint: Readonly<Record<Severity, (text: string) => string>> = {
    error: colors.red,
    warning: colors.yellow,
    unknown: colors.magenta,
    info: colors.cyan,
  };
  if (accepted) return [`${severity} ${colors.bold(code)} (accepted)`, ...wrapped(found, width, "  ")];
  return [
    `${paint[severity](severity)} ${colors.bold(code)}`,
    ...wrapped(found, width, "  "),
    ...wrapped(consequence, width, "  "),
    ...wrapped(remedy, width, "  "),
  ];
}

function wrapped(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text).split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
