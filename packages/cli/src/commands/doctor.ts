/** `holdfast doctor`: what puts locks at risk on this server. */
import type { DoctorReport, Finding, Severity } from "holdfast";
import { EXIT } from "../exit-codes.js";
import { interruptible } from "../interrupt.js";
import { type Colors, colorsFor, jsonOf, printLine } from "../output/output.js";
import { printable } from "../output/text.js";
import { newSession } from "../session.js";
import type { Settings } from "../settings.js";
import { roomIn } from "./look.js";

export async function doctor(settings: Settings): Promise<number> {
  const session = newSession(settings);
  try {
    const report = await interruptible(async (signal) => {
      await session.connect(signal);
      return aboutServer(await session.hf.doctor());
    });
    if (settings.json) printLine(jsonOf(report));
    else for (const line of reportLines(report)) printLine(line);
    return report.healthy ? EXIT.ok : EXIT.no;
  } finally {
    await session.close();
  }
}

/** The client is this command's own; that of a program is looked at by `hf.doctor()` in the program. */
function aboutServer(report: DoctorReport): DoctorReport {
  const findings = report.findings.filter(({ code }) => !code.startsWith("client-"));
  const healthy = !findings.some(({ severity }) => severity === "error" || severity === "warning");
  return { ...report, findings, healthy };
}

const LONGEST_LINE = 100;

function reportLines({ healthy, findings, facts }: DoctorReport): string[] {
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
    healthy ? colors.green("Locks are in good hands here.") : colors.bold("There is something to mend."),
  ];
}

function clockText(offsetMs: number): string {
  const text = `${Math.abs(offsetMs)} ms`;
  return offsetMs < 0 ? `${text} behind ours` : `${text} ahead of ours`;
}

function findingLines(
  { code, severity, found, consequence, remedy }: Finding,
  width: number,
  colors: Colors,
): string[] {
  const paint: Readonly<Record<Severity, (text: string) => string>> = {
    error: colors.red,
    warning: colors.yellow,
    unknown: colors.magenta,
    info: colors.cyan,
  };
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
