/** What is kept of the error of a handler. */
const LONGEST = 500;

export function reasonOf(error: unknown): string {
  return textOf(error).slice(0, LONGEST).toWellFormed();
}

/** Programs throw anything, also objects that cannot be made text. */
function textOf(error: unknown): string {
  try {
    const text = String(error instanceof Error ? error.message || error.name : error);
    if (text !== "") return text;
  } catch {
    // It has no text.
  }
  return "an error without a text";
}
