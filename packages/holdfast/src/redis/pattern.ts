/** Patterns as Redis reads them: `*` anything, `?` one character, `[ab]` one of these, `\` before a literal character. */

/** Escapes the characters that have a meaning in a pattern. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[*?[\]\\^]/g, "\\$&");
}

/** Whether a whole text matches. A pattern for a key alone cannot separate the parts of the key. */
export function matcherOf(pattern: string): (text: string) => boolean {
  if (pattern === "*") return () => true;
  const whole = pattern.replaceAll(
    /\\(.)|\[(\^?)((?:\\.|[^\]])*)\]?|([*?])|([^\\[*?]|\\$)/gsu,
    (...found) => {
      const [, itself, not, set, wild, plain] = found as (string | undefined)[];
      if (wild !== undefined) return wild === "*" ? ".*" : ".";
      if (set !== undefined) return setOf(set, not !== "");
      return literal(itself ?? plain ?? "");
    },
  );
  const expression = new RegExp(`^${whole}$`, "su");
  return (text) => expression.test(text);
}

function setOf(set: string, not: boolean): string {
  const inside = set.replaceAll(/\\?(.)-\\?(.)|\\?(.)/gsu, (_, from, to, one) => {
    if (one !== undefined) return inSet(one);
    return from < to ? `${inSet(from)}-${inSet(to)}` : `${inSet(to)}-${inSet(from)}`;
  });
  if (inside === "") return not ? "." : "(?!)";
  return `[${not ? "^" : ""}${inside}]`;
}

function literal(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/u, "\\$&");
}

function inSet(character: string): string {
  return character.replace(/[\]\\^[-]/u, "\\$&");
}
