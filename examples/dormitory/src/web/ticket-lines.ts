/** What a ticket says in the language of the reader: the page, the stream and those who poll have the same lines. */
import type { TicketView } from "../domain/selection.js";
import type { Texts } from "./texts/texts.js";

export type TicketLines = Readonly<Record<"place" | "ahead" | "eta", string>>;

export function linesOf(view: TicketView, { grab }: Texts): TicketLines {
  if (view.state === "running") return { place: grab.working, ahead: "", eta: "" };
  if (view.state !== "waiting") return { place: "", ahead: "", eta: "" };
  return { place: grab.number(view.position), ahead: grab.ahead(view.ahead), eta: grab.eta(view.etaMs) };
}

/** Whether somebody has yet to decide. */
export function isPending({ state }: TicketView): boolean {
  return state === "waiting" || state === "running";
}

/** The page that fits a view; when it changes, a browser asks for the page again. */
export function kindOf(view: TicketView): "pending" | "still" {
  return isPending(view) ? "pending" : "still";
}

/** Another mark is another page: the request of the team has another kind of view, or a newer decision. */
export function markOf(view: TicketView): string {
  return `${kindOf(view)}-${view.version}`;
}
