/** How a process that holds or waits is named to people. */
export function ownerText({ label, pid, host }: { label: string; pid: number; host: string }): string {
  return label === "" ? `pid ${pid} on ${host}` : `${label} (pid ${pid} on ${host})`;
}
