/** The names of locks and limits, for a Tab: quick, silent, and none when Redis is slow or away. */
import type { Inspector } from "holdfast";
import { newSession } from "../session.js";
import { settingsOf } from "../settings.js";
import { pause } from "../time.js";
import type { Wanted } from "./candidates.js";

const PATIENCE_MS = 700;
const MOST = 200;

/** @param words those typed so far: they may say which Redis. */
export async function knownNames(words: readonly string[], wanted: Wanted): Promise<readonly string[]> {
  const env = process.env;
  const session = newSession(
    settingsOf({
      redis: typedAfter(words, "--redis") ?? env["HOLDFAST_REDIS"] ?? "redis://127.0.0.1:6379",
      prefix: typedAfter(words, "--prefix") ?? env["HOLDFAST_PREFIX"] ?? "holdfast",
    }),
  );
  const enough = new AbortController();
  const names = new Set<string>();
  const find = async (): Promise<void> => {
    await session.connect(enough.signal);
    for await (const name of namesOf(await session.hf.inspector(), wanted)) {
      // One with blanks would be several words.
      if (!/[\s'"\\]/.test(name)) names.add(name);
      if (names.size >= MOST || enough.signal.aborted) return;
    }
  };
  await Promise.race([find().catch(() => {}), pause(PATIENCE_MS, enough.signal)]);
  enough.abort();
  await session.close();
  return [...names].sort();
}

async function* namesOf(inspector: Inspector, wanted: Wanted): AsyncGenerator<string> {
  if (wanted.of === "locks") for await (const { name } of inspector.locks()) yield name;
  else if (wanted.of === "limits") for await (const { name } of inspector.limits()) yield name;
  else for await (const { name, target } of inspector.limits()) if (name === wanted.limit) yield target;
}

function typedAfter(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  return at < 0 ? undefined : words[at + 1];
}
