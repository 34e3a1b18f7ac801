/** The page for students who were too quick: why, and when it ends. */
import { Page } from "../layout.js";
import { FREE_HITS } from "../rush.js";
import type { PageContext } from "../site.js";

export function BusyPage({
  context,
  untilMs,
  nowMs,
}: {
  context: PageContext;
  untilMs: number;
  nowMs: number;
}) {
  const { busy, span } = context.get("texts");
  const leftMs = Math.max(0, untilMs - nowMs);
  // A form is not sent again by a reload: the page that the reader wanted is another one then.
  const isRead = context.req.method === "GET";
  const back = isRead ? context.req.path : "/grab";
  return (
    <Page
      context={context}
      title={busy.title}
      path={back}
      isInOne
      {...(isRead ? { reloadS: Math.ceil(leftMs / 1_000) + 1, reloads: "always" as const } : {})}
    >
      <div data-narrow>
        <h1>{busy.title}</h1>
        <article>
          <p role="alert">{busy.lead(FREE_HITS)}</p>
          <p>{busy.until(untilMs)}</p>
          <p data-figure>{`${busy.left}: ${span(leftMs)}`}</p>
          <p>
            <small>{busy.kept}</small>
          </p>
          <p>
            <a href={back}>{busy.back}</a>
          </p>
        </article>
      </div>
    </Page>
  );
}

export function NotBusyPage({ context }: { context: PageContext }) {
  const { busy } = context.get("texts");
  return (
    <Page context={context} title={busy.open} path="/busy">
      <div data-narrow>
        <h1>{busy.open}</h1>
        <p>
          <a href="/grab">{busy.back}</a>
        </p>
      </div>
    </Page>
  );
}
