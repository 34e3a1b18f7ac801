/** The names of locks, for a Tab: quick, silent, and none when Redis is slow or away. */
import { newSession } from "../session.js";
import { settingsOf } from "../settings.js";
import { pause } from "../time.js";

const PATIENCE_MS = 700;
const MOST = 200;

/** @param words those typed so far: they may say which Redis. */
export async function knownNames(words: readonly string[]): Promise<readonly string[]> {
  const env = process.env;
  const session = newSession(
    settingsOf({
      redis: typedAfter(words, "--redis") ?? env["HOLDFAST_REDIS"] ?? "redis://127.0.0.1:6379",
      prefix: typedAfter(words, "--prefix") ?? env["HOLDFAST_PREFIX"] ?? "holdfast",
    }),
  );
  const enough = new AbortController();
  const names: string[] = [];
  const find = async (): Promise<void> => {
    await session.connect(enough.signal);
    for await (const { name } of (await session.hf.inspector()).locks()) {
      // One with blanks would be several words.
      if (!/[\s'"\\]/.test(name)) names.push(name);
      if (names.length >= MOST || enough.signal.aborted) return;
    }
  };
  await Promise.race([find().catch(() => {}), pause(PATIENCE_MS, enough.signal)]);
  enough.abort();
  await session.close();
  return names.sort();
}

function typedAfter(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  return at < 0 ? undefined : words[at + 1];
}
