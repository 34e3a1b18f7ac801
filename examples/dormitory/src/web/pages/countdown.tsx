/** The page that everybody reloads before the start: one request, and nothing is read for it but the guard's count. */
import type { Batch } from "../../domain/batch.js";
import { Page } from "../layout.js";
import { FREE_HITS, type RushVerdict } from "../rush.js";
import type { PageContext } from "../site.js";

export interface CountdownProps {
  readonly context: PageContext;
  readonly batch: Batch;
  readonly verdict: RushVerdict;
  readonly nowMs: number;
  /** The id of the request that the button sends. */
  readonly requestId: string;
}

export function CountdownPage({ context, batch, verdict, nowMs, requestId }: CountdownProps) {
  const { countdown, home, second } = context.get("texts");
  const { startsAtMs, postponedMs } = verdict;
  const leftMs = startsAtMs - nowMs;
  const hasBegun = leftMs <= 0;
  const isOver = nowMs >= batch.endsAtMs;
  const line = isOver ? countdown.over : hasBegun ? countdown.begun : countdown.notBegun;
  return (
    <Page
      context={context}
      title={countdown.title}
      path="/countdown"
      script="countdown"
      isInOne
      {...(hasBegun ? {} : { reloadS: Math.min(60, Math.ceil(leftMs / 1_000)) })}
    >
      <div data-narrow>
        <h1>{batch.name}</h1>
        <article>
          <p>
            {postponedMs > 0 ? countdown.yourStart : home.start}:{" "}
            <time datetime={new Date(startsAtMs).toISOString()}>{second(startsAtMs)}</time>
          </p>
          {!isOver && (
            <p role="timer" aria-live="off" data-start={startsAtMs} data-now={nowMs} data-day={countdown.day}>
              {clockOf(leftMs, countdown.day)}
            </p>
          )}
          {postponedMs > 0 && <p role="alert">{countdown.postponed(postponedMs, FREE_HITS)}</p>}
          <p role="status" data-begun={isOver ? undefined : countdown.begun}>
            {line}
          </p>
          {!isOver && (
            <form method="post" action="/grab">
              <input type="hidden" name="requestId" value={requestId} />
              <button type="submit" data-big data-at-start disabled={!hasBegun}>
                {countdown.grab}
              </button>
            </form>
          )}
          <p>
            <a href="/rooms">{countdown.other}</a>
          </p>
        </article>
      </div>
    </Page>
  );
}

/** As the script writes it, for browsers without one. */
function clockOf(leftMs: number, day: string): string {
  const left = Math.max(0, Math.ceil(leftMs / 1_000));
  const two = (value: number): string => String(value).padStart(2, "0");
  const clock = [Math.floor(left / 3_600) % 24, Math.floor(left / 60) % 60, left % 60].map(two).join(":");
  const days = Math.floor(left / 86_400);
  return days > 0 ? `${days} ${day} ${clock}` : clock;
}
