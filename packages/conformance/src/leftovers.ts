/** What must not outlive this process, however it ends, short of SIGKILL. */

const removals = new Set<() => void>();

/** Calls `remove` when the process ends. Returns the way to take that back. */
export function atExit(remove: () => void): () => void {
  if (removals.size === 0) process.on("exit", removeAll);
  removals.add(remove);
  return () => {
    removals.delete(remove);
    if (removals.size === 0) process.off("exit", removeAll);
  };
}

function removeAll(): void {
  for (const remove of [...removals]) remove();
}
