/** Text that others wrote, made fit for a terminal. */

/**
 * Control characters, those that change the direction or the look of their neighbours without being seen, and those that
 * show nothing: with one of them a name would look like another. The plain blank, in most names of people, stays.
 */
const UNSEEN = /\p{Cc}|\p{Cf}|\p{Default_Ignorable_Code_Point}|(?! )\p{Z}|\u2800/gu;

/** More characters than any name that holdfast accepts. Keys that other programs write may have names of megabytes. */
const LONGEST = 2_000;

/** Anybody may have chosen a name or a label: an escape sequence in one must not reach the terminal. */
export function printable(text: string): string {
  if (text.length > LONGEST) return `${printable(text.slice(0, LONGEST))}…`;
  return text.replaceAll(UNSEEN, (character) => {
    return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
  });
}

/** A JSON document with the same meaning, in which no such character stands as it is. */
export function printableJson(json: string): string {
  return json.replaceAll(UNSEEN, (character) => character.split("").map(escaped).join(""));
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
