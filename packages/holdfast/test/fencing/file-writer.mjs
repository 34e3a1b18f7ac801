// A process that writes a fenced file: adds its token to the list in it, and can end or stop itself at any step.

import { writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { FencedFile, systemFiles } from "holdfast/fencing/file";

const { path, tokens, id, stepAt = 0, signal = "SIGKILL", torn = false } = JSON.parse(process.argv[2]);

let step = 0;
const files = {
  ...Object.fromEntries(
    Object.entries(systemFiles).map(([name, operation]) => [
      name,
      async (...words) => {
        if (++step === stepAt) {
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

const file = new FencedFile(path, { files });
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
say("steps", step);
