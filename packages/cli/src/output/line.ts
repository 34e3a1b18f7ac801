/** What the library says of a line that this command stands in. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { HoldfastEvents } from "holdfast";
import { host } from "../host.js";
import { note, noteEvent } from "./output.js";

/**
 * Says once that the command waits, or again for each line it joins: as an event, or on a terminal in words.
 * @param event what `--json` has beside `ahead`
 * @returns a function that ends it
 */
export function tellOfLine(
  { json, again = false }: { readonly json: boolean; readonly again?: boolean },
  event: Readonly<Record<string, string>>,
  words: (ahead: number) => string,
): () => void {
  let told = false;
  const tell = (message: unknown): void => {
    if (told && !again) return;
    told = true;
    const { ahead } = message as HoldfastEvents["holdfast:lock:waiting"];
    if (json) noteEvent({ event: "waiting", ...event, ahead });
    else if (host().stderr.isTTY) note(words(ahead));
  };
  subscribe("holdfast:lock:waiting", tell);
  return () => unsubscribe("holdfast:lock:waiting", tell);
}
