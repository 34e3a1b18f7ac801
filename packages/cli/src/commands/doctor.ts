/** `holdfast doctor`: what puts locks at risk on this server, or on these. */
import { EXIT } from "../exit-codes.js";
import { host } from "../host.js";
import { interruptible } from "../interrupt.js";
import { colorsFor, jsonOf, printLine } from "../output/output.js";
import type { Settings } from "../settings.js";
import { examine, reportLines, verdict } from "./examination.js";
import { doctorOfNodes } from "./nodes-doctor.js";

/** @param accepted codes of findings that do not count */
export async function doctor(accepted: readonly string[], settings: Settings): Promise<number> {
  if (settings.redisUrls.length > 1) return doctorOfNodes(accepted, settings);
  const [url = ""] = settings.redisUrls;
  const { report, failure } = await interruptible((signal) => examine(url, accepted, settings, signal));
  if (settings.json) printLine(jsonOf(report));
  else {
    for (const line of reportLines(report)) printLine(line);
    printLine(verdict(report, colorsFor(host().stdout)));
  }
  if (failure) throw failure;
  return report.healthy ? EXIT.ok : EXIT.no;
}
