/** A message as the library sends it. @param place the id of the keys that the text speaks of, empty at an inbox */
export function framed(place: string, text: string): string {
  return `${place} ${Buffer.byteLength(text)} ${text}`;
}
