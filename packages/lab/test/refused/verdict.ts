/** What a script that met a refusal has to be: all of it, or nothing. */
import { type Contents, differences } from "./contents.js";
import type { Call } from "./reached.js";
import { contentsAt, type Refusal, type Seen } from "./trial.js";

/** Scripts of several independent requests for one slot, each with a key of its own. */
const byKey: ReadonlySet<string> = new Set(["limits/lua/charge"]);
/** A reset takes away what is in its way, and cannot know the lanes of a record of another type. */
const partly: ReadonlySet<string> = new Set(["lanes/lua/reset"]);

/** undefined: it was all or nothing. Else what is wrong. @param plain what it does where nothing is refused */
export function wrongIn(call: Call, plain: Seen, refusal: Refusal, seen: Seen): string | undefined {
  const changes = differences(contentsAt(call, refusal), seen.contents);
  if (seen.error !== undefined) {
    if (refusal.kind === "command" && refusal.command === "PUBLISH")
      return `${seen.error}: nobody hears it, and all the rest can be done`;
    if (/user_script:\d/.test(seen.error)) return `${seen.error}: nobody knows what to do about that`;
    if (changes.length + seen.messages.length === 0) return undefined;
    return `"${seen.error}", and it has changed ${shown([...changes, ...seen.messages])}`;
  }
  if (refusal.kind === "key" && partly.has(call.script.name)) return undefined;
  // What it makes of such a value is up to it.
  if (refusal.kind === "value") return undefined;
  const lost = differenceOf(bodiesIn(plain.contents), bodiesIn(seen.contents));
  if (lost !== "") return `bodies: ${lost}`;
  const before = new Map([...call.contents, ...plain.contents].map(({ key, endMs }) => [key, endMs]));
  const endless = seen.contents.flatMap(({ key, endMs }) =>
    endMs < 0 && (before.get(key) ?? -1) >= 0 ? [key] : [],
  );
  if (endless.length > 0) return `without an end: ${endless.join(", ")}`;
  // Where the server is full, or nobody hears, there is another way to the end.
  if (refusal.kind === "memory" || refusal.kind === "none") return undefined;
  if (refusal.kind === "command" && refusal.command === "PUBLISH") return undefined;
  const part = byKey.has(call.script.name) ? keyOf : nameOf;
  const missing = new Set(differences(plain.contents, seen.contents).map(part));
  const half = changes.filter((change) => missing.has(part(change)));
  return half.length === 0 ? undefined : `no error, and half of it: ${shown(half)}`;
}

function shown(changes: readonly string[]): string {
  return changes.map((one) => one.slice(0, 400)).join("\n    ");
}

const keyOf = (difference: string): string => difference.slice(0, difference.indexOf(": "));
/** What the keys of one name have in common. */
const nameOf = (difference: string): string => /\{(.*?)\}/.exec(keyOf(difference))?.[1] ?? "";

/** Whatever users have put into queues and lanes, wherever it is. */
function bodiesIn(contents: Contents): string[] {
  const bodies = contents.flatMap(({ key, content }) => {
    if (/\}:lanes:lane:/.test(key)) return content;
    if (/\}:queue:line$/.test(key)) return content.filter((_, at) => at % 2 === 1);
    if (!/\}:(queue|lanes):(off|letters)$/.test(key)) return [];
    return content.filter((_, at) => at % 2 === 1 && !content[at - 1]?.startsWith("why:"));
  });
  return bodies.sort();
}

function differenceOf(wanted: readonly string[], found: readonly string[]): string {
  const left = [...found];
  const lost = wanted.filter((one) => {
    const at = left.indexOf(one);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [lost.length > 0 ? `${lost.length} lost` : "", left.length > 0 ? `${left.length} doubled` : ""]
    .join(" ")
    .trim();
}
