/** What is being started, on stderr: one line that is written over on a terminal, one line each elsewhere. */
import pc from "picocolors";

export interface Progress {
  tell(line: string): void;
  done(): void;
}

export function progress(): Progress {
  const { stderr } = process;
  const clear = (): void => {
    if (stderr.isTTY) stderr.write("\r\u001b[K");
  };
  return {
    tell: (line) => {
      clear();
      stderr.write(stderr.isTTY ? pc.dim(`${line} …`) : `${line}\n`);
    },
    done: clear,
  };
}
