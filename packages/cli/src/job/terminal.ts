/** Whether this process has a terminal that its user can press Ctrl-C on. */
import { closeSync, openSync } from "node:fs";

export function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false; // cron, a service, CI, another host's ssh without -t
  }
}
