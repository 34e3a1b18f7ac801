/** The ticket of a student as a stream of events, for as long as somebody listens. */

import type { SSEMessage, SSEStreamingApi } from "hono/streaming";
import { streamSSE } from "hono/streaming";
import type { Away, TicketView } from "../domain/selection.js";
import type { Student } from "../domain/student.js";
import type { PageContext } from "./site.js";
import type { Texts } from "./texts/texts.js";
import { kindOf, linesOf } from "./ticket-lines.js";

/** A phone that sleeps is not noticed: no stream lives longer, and the browser opens another one. */
const LIFE_MS = 300_000;
const PING_MS = 15_000;
/** A reader that takes nothing for this time is gone. */
const WRITE_MS = 1_000;
const RECONNECT_MS = 1_000;

export function ticketEvents(context: PageContext, student: Student): Response {
  const { dormitory, streams } = context.get("site");
  const texts = context.get("texts");
  const opened = streams.open(student.id, LIFE_MS);
  // A browser that is refused a stream asks for the ticket from time to time instead.
  if (!opened) return context.json({ error: "streams" }, 503);
  const { signal, end } = opened;
  context.header("x-accel-buffering", "no");
  return streamSSE(context, async (stream) => {
    stream.onAbort(end);
    const ping = setInterval(() => void stream.write(": ping\n\n").catch(end), PING_MS);
    try {
      await stream.writeSSE({ event: "hello", data: "", retry: RECONNECT_MS });
      for await (const view of dormitory.selection.watch(student, signal)) {
        if (!(await isWritten(stream, eventOf(view, texts)))) break;
      }
    } catch (error) {
      // The browser connects again, and meets whichever server is there: nothing is kept in this one.
      if (!signal.aborted)
        context.get("site").log(`events: ${error instanceof Error ? error.message : error}`);
    } finally {
      clearInterval(ping);
      end();
    }
  });
}

function eventOf(view: TicketView | Away, texts: Texts): SSEMessage {
  if (view.state === "away") return { event: "away", data: "" };
  const data = JSON.stringify({ ...view, kind: kindOf(view), lines: linesOf(view, texts) });
  return { event: "ticket", id: view.version, data };
}

async function isWritten(stream: SSEStreamingApi, event: SSEMessage): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), WRITE_MS);
  });
  const written = stream.writeSSE(event).then(() => !stream.aborted);
  const result = await Promise.race([written, late]);
  clearTimeout(timer);
  if (!result) stream.abort();
  return result;
}
