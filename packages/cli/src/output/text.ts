/** Text that others wrote, made fit for a terminal. */

/** Names and labels are anybody's: an escape sequence in one must not reach the terminal. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}|\p{Cf}|[\u2028\u2029]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
  });
}
