// A process that writes a fenced file: adds its token to the list in it, and can end or stop itself at any step.

import { writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { FencedFile, systemFiles } from "holdfast/fencing/file";

const { path, paths, tokens, id, stepAt = 0, signal = "SIGKILL", torn = false } = JSON.parse(process.argv[2]);
// Of several files, the first is written with a stop at the first step, the second with one at the second, and so on.
const rounds = paths?.map((each, at) => ({ path: each, stepAt: at + 1 })) ?? [{ path, stepAt }];

let stopAt = 0;
let step = 0;
const files = {
  ...Object.fromEntries(
    Object.entries(systemFiles).map(([name, operation]) => [
      name,
      async (...words) => {
        if (++step === stopAt) {
          if (torn && name === "create") await tear(...words);
          say("at", name);
          process.kill(process.pid, signal);
        }
        return operation(...words);
      },
    ]),
  ),
};

/** Half of a file, as a process leaves it that is killed while it writes. */
async function tear(target, content) {
  const file = await open(target, "wx");
  await file.write(String(content).slice(0, 1));
  await file.close();
}

function say(...words) {
  writeSync(1, `${words.join(" ")}\n`);
}

for (const round of rounds) {
  const file = new FencedFile(round.path, { files });
  [step, stopAt] = [0, round.stepAt];
  for (const token of tokens) {
    const holder = { fence: BigInt(token), id };
    try {
      const before = String((await file.enter(holder)) ?? "");
      await file.write(holder, `${before} ${token}`.trim());
      say("written", token);
    } catch (error) {
      if (error.code !== "STALE_TOKEN") throw error;
      say("refused", token, error.seen);
    }
  }
}
say("steps", step);
