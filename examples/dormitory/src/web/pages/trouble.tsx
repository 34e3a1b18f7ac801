/** Pages for requests that could not be done: refused ones, a store that does not answer, and errors. */
import { Page } from "../layout.js";
import type { PageContext } from "../site.js";

export function RefusedPage({ context, text }: { context: PageContext; text: string }) {
  const { trouble } = context.get("texts");
  const title = context.req.method === "GET" ? trouble.notHere : trouble.notDone;
  return (
    <Page context={context} title={title} path={safePath(context)}>
      <div data-narrow>
        <h1>{title}</h1>
        <p role="alert">{text}</p>
        <p>
          <a href="/">{trouble.home}</a>
        </p>
      </div>
    </Page>
  );
}

/** The store does not answer. A page that was only read asks again by itself; a click is never repeated. */
export function AwayPage({ context, mayHaveHappened }: { context: PageContext; mayHaveHappened: boolean }) {
  const { trouble } = context.get("texts");
  const isRead = context.req.method === "GET";
  return (
    <Page context={context} title={trouble.away} path={safePath(context)} {...(isRead ? again : {})}>
      <div data-narrow>
        <h1>{trouble.away}</h1>
        <p role="status">{mayHaveHappened ? trouble.awayUnsure : trouble.awayLead}</p>
        {!isRead && (
          <p>
            <a href={context.get("student")?.role === "admin" ? "/admin" : "/grab"}>{trouble.awayLook}</a>
          </p>
        )}
      </div>
    </Page>
  );
}

const again = { reloadS: 3, reloads: "always" } as const;

export function FailedPage({ context }: { context: PageContext }) {
  const { trouble } = context.get("texts");
  return (
    <Page context={context} title={trouble.failed} path={safePath(context)}>
      <div data-narrow>
        <h1>{trouble.failed}</h1>
        <p role="alert">{trouble.failedLead}</p>
        <p>
          <a href="/">{trouble.home}</a>
        </p>
      </div>
    </Page>
  );
}

/** A form's address has no page of its own, so the link to the other language leads home. */
function safePath(context: PageContext): string {
  return context.req.method === "GET" ? context.req.path : "/";
}
