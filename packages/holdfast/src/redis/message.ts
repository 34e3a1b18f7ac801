/** Messages: what _message.lua sends. Anybody may publish on a channel, so that a message is believed only where it is whole and names its place. */

/** The place of a message whose channel proves it, or that carries no state. */
export const NO_PLACE = "";

/** A message, without what _message.lua puts before its text. */
export interface Message {
  readonly place: string;
  readonly text: string;
}

/** Null: it is cut short, or of another program. */
export function readMessage(message: string): Message | null {
  const first = message.indexOf(" ");
  const second = message.indexOf(" ", first + 1);
  if (first < 0 || second < 0) return null;
  const text = message.slice(second + 1);
  if (message.slice(first + 1, second) !== String(Buffer.byteLength(text))) return null;
  return { place: message.slice(0, first), text };
}

/** The words of a message to an inbox; none where it is not one. */
export function readWords(message: string): string[] {
  return readMessage(message)?.text.split(" ") ?? [];
}

/** The first words, and the rest as it is: to split a body of a thousand blanks costs time, and anybody may publish one. */
export function firstWords(text: string, count: number): string[] {
  const words: string[] = [];
  let from = 0;
  for (let at = text.indexOf(" "); at >= 0 && words.length < count; at = text.indexOf(" ", from)) {
    words.push(text.slice(from, at));
    from = at + 1;
  }
  words.push(text.slice(from));
  return words;
}

/** As _message.lua writes it. */
export function writeMessage(place: string, text: string): string {
  return `${place} ${Buffer.byteLength(text)} ${text}`;
}
