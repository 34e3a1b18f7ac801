/** The machine that processes of a world run on, as far as a program can see it: what is written must not depend on ours. */
import { createRequire, syncBuiltinESMExports } from "node:module";

const os = createRequire(import.meta.url)("node:os") as { hostname: () => string };
const realHostname = os.hostname;
const realPid = Object.getOwnPropertyDescriptor(process, "pid") as PropertyDescriptor;

/** From now on the host is "world" and the process number 1. Returns how to give them back. */
export function takeMachine(): () => void {
  setHostname(() => "world");
  Object.defineProperty(process, "pid", { ...realPid, value: 1 });
  return () => {
    setHostname(realHostname);
    Object.defineProperty(process, "pid", realPid);
  };
}

function setHostname(hostname: () => string): void {
  os.hostname = hostname;
  syncBuiltinESMExports(); // for those who import it by name
}
