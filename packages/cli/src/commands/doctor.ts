/** `holdfast doctor`: what puts locks at risk on this server. */
import type { DoctorReport, Finding, Severity } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { interruptible } from "../interrupt.js";
import { type Colors, colorsFor, jsonOf, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";
import { roomIn } from "./look.js";

/** As the report has it, and whether the user has said that it may stay as it is. */
interface Judged extends Finding {
  readonly accepted: boolean;
}

interface Judgement extends DoctorReport {
  readonly findings: readonly Judged[];
}

/** @param accepted codes of findings that do not count */
export async function doctor(accepted: readonly string[], settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    const report = await interruptible(async (signal) => {
      await session.connect(signal);
      return judged(await session.hf.doctor(), accepted);
    });
    if (settings.json) printLine(jsonOf(report));
    else for (const line of reportLines(report)) printLine(line);
    return report.healthy ? EXIT.ok : EXIT.no;
  } finally {
    await session.close();
  }
}

/** The client is this command's own; that of a program is looked at by `hf.doctor()` in the program. */
function judged(report: DoctorReport, codes: readonly string[]): Judgement {
  const findings = report.findings
    .filter(({ code }) => !code.startsWith("client-"))
    .map((finding) => ({ ...finding, accepted: codes.includes(finding.code) }));
  return {
    ...report,
    findings,
    healthy: !findings.some(({ severity, accepted }) => isBad(severity) && !accepted),
  };
}

function isBad(severity: Severity): boolean {
  return severity === "error" || severity === "warning";
}

const LONGEST_LINE = 100;

function reportLines({ healthy, findings, facts }: Judgement): string[] {
  const colors = colorsFor(process.stdout);
  const width = Math.min(roomIn(process.stdout), LONGEST_LINE);
  const { kind, version, mode, role, roundTripMs, clockOffsetMs } = facts;
  const known = [
    [kind, version].filter(Boolean).join(" ") || "a server that does not say what it is",
    mode,
    role,
    roundTripMs === null ? null : `a call takes ${roundTripMs} ms`,
    clockOffsetMs === null ? null : `its clock is ${clockText(clockOffsetMs)}`,
  ];
  return [
    ...wrapped(known.filter(Boolean).join(", "), width, ""),
    ...findings.flatMap((finding) => ["", ...findingLines(finding, width, colors)]),
    "",
    verdict(healthy, findings, colors),
  ];
}

function verdict(healthy: boolean, findings: readonly Judged[], colors: Colors): string {
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
