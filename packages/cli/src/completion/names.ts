/** The names of locks and limits, for a Tab: quick, silent, and none when Redis is slow or away. */
import type { Holdfast, Inspector } from "holdfast";
import type { Kind, Named } from "../kinds/kind.js";
import { kindOf } from "../kinds/kinds.js";
import { KIND_NAMES } from "../kinds/names.js";
import { newSession } from "../session.js";
import { settingsOf } from "../settings.js";
import { pause } from "../time.js";
import type { Wanted } from "./candidates.js";

const PATIENCE_MS = 700;
const MOST = 200;
const LONGEST = 200;

/** No shell gives any of these characters a meaning inside a word, or as its first character. */
const PLAIN = /^[\p{L}\p{N}_./:@][\p{L}\p{M}\p{N}_./:@%+,=-]*$/u;
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u;

/**
 * Strangers choose names, and a shell may insert a candidate as it is: `job$(…)` would run at Enter, `--yes`
 * would be an option, an escape sequence would reach the terminal. The operator types such a name in quotes.
 */
function isPlain(name: string): boolean {
  return name.length <= LONGEST && PLAIN.test(name) && !INVISIBLE.test(name);
}

/** @param words those typed so far: they may say which Redis. */
export async function knownNames(words: readonly string[], wanted: Wanted): Promise<readonly string[]> {
  const env = process.env;
  const session = newSession(
    settingsOf({
      // Of a Redlock one server is enough: it has the names of most locks.
      redis: (typedAfter(words, "--redis") ?? env["HOLDFAST_REDIS"] ?? "redis://127.0.0.1:6379").split(
        " ",
        1,
      ),
      prefix: typedAfter(words, "--prefix") ?? env["HOLDFAST_PREFIX"] ?? "holdfast",
    }),
  );
  const enough = new AbortController();
  const names = new Set<string>();
  const find = async (): Promise<void> => {
    await session.connect(enough.signal);
    for await (const name of namesOf(session.hf, wanted, words)) {
      if (isPlain(name)) names.add(name);
      if (names.size >= MOST || enough.signal.aborted) return;
    }
  };
  await Promise.race([find().catch(() => {}), pause(PATIENCE_MS, enough.signal)]);
  enough.abort();
  await session.close();
  return [...names].sort();
}

async function* namesOf(hf: Holdfast, wanted: Wanted, words: readonly string[]): AsyncGenerator<string> {
  const inspector = await hf.inspector();
  if (wanted.of === "locks")
    for await (const { name } of kindIn(words).list(inspector, "*", false)) yield name;
  else if (wanted.of === "elections") yield* electionNames(inspector);
  else if (wanted.of === "events") for await (const { name } of inspector.events()) yield name;
  else if (wanted.of === "signals") for await (const { name } of inspector.signals()) yield name;
  else if (wanted.of === "queues") for await (const { name } of inspector.queues()) yield name;
  else if (wanted.of === "lanes") for await (const { name } of inspector.lanesNames()) yield name;
  else if (wanted.of === "lanes of") for await (const { lane } of hf.lanes(wanted.lanes).list()) yield lane;
  else if (wanted.of === "records") for await (const { name } of inspector.records()) yield name;
  else if (wanted.of === "limits") for await (const { name } of inspector.limits()) yield name;
  else for await (const { name, target } of inspector.limits()) if (name === wanted.limit) yield target;
}

const ELECTION = "election:";

async function* electionNames(inspector: Inspector): AsyncGenerator<string> {
  for await (const { name } of inspector.locks({ pattern: `${ELECTION}*` }))
    yield name.slice(ELECTION.length);
}

/** `ls`, `show` and `watch` show locks unless `--kind` says otherwise. */
function kindIn(words: readonly string[]): Kind<Named> {
  const typed = typedAfter(words, "--kind");
  return kindOf(KIND_NAMES.find((name) => name === typed) ?? "lock");
}

/** The value of an option in either form: `--redis URL`, `--redis=URL`. */
function typedAfter(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  if (at >= 0) return words[at + 1];
  return words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1);
}
