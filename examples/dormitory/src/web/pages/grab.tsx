/** The page of the choice: the button, the place in the queue, and the result. */
import type { Batch } from "../../domain/batch.js";
import type { RoomView } from "../../domain/room.js";
import type { TicketView } from "../../domain/selection.js";
import type { Student } from "../../domain/student.js";
import type { Person } from "../../domain/team.js";
import { Notice, Page } from "../layout.js";
import { namesOf } from "../room-board.js";
import type { RushVerdict } from "../rush.js";
import { refusalText, type Said } from "../said.js";
import type { PageContext } from "../site.js";
import { isPending, kindOf, linesOf, markOf } from "../ticket-lines.js";

export interface GrabProps extends Partial<Said> {
  readonly context: PageContext;
  readonly student: Student;
  readonly batch: Batch;
  readonly view: TicketView;
  readonly rooms: readonly RoomView[];
  readonly members: readonly Person[];
  readonly verdict: RushVerdict;
  readonly nowMs: number;
  readonly requestId: string;
}

export function GrabPage(props: GrabProps) {
  const { context, batch, view, good, bad } = props;
  const { grab } = context.get("texts");
  const pending = isPending(view);
  const isShared = !pending && view.teamSize > 1 && batch.state === "open";
  return (
    <Page context={context} title={grab.title} path="/grab" {...(pending ? queued : isShared ? shared : {})}>
      <div data-narrow data-seen={isShared ? markOf(view) : undefined}>
        <h1>{grab.title}</h1>
        <p>
          <small>{batch.name}</small>
        </p>
        <Notice good={good} bad={bad ?? refusalOf(props)} />
        {pending ? (
          <Queue {...props} />
        ) : view.places.length > 0 ? (
          <Result {...props} />
        ) : (
          <Choice {...props} />
        )}
      </div>
    </Page>
  );
}

const queued = { reloadS: 3, script: "ticket" } as const;
/** A mate may choose for the team at any time. A student without mates needs no script. */
const shared = { reloadS: 15, script: "team" } as const;

/** Why the newest request was refused, as long as it says something about now. */
function refusalOf({ context, view }: GrabProps): string | undefined {
  const { outcome } = view;
  return view.state === "decided" && outcome?.state === "refused"
    ? refusalText(context, outcome.reason)
    : undefined;
}

function Queue({ context, view }: GrabProps) {
  const texts = context.get("texts");
  const { grab } = texts;
  const lines = linesOf(view, texts);
  return (
    <>
      <article data-ticket={kindOf(view)} aria-live="polite">
        <h2>{texts.grab.waiting}</h2>
        <p data-figure data-line="place">
          {lines.place}
        </p>
        <p data-line="ahead">{lines.ahead}</p>
        <p data-line="eta">{lines.eta}</p>
        <progress aria-label={texts.grab.waiting} />
      </article>
      <p role="status" data-current={grab.live} data-away={grab.away} data-broken={grab.broken}>
        {grab.live}
      </p>
    </>
  );
}

function Result({ context, student, view, rooms, members, requestId }: GrabProps) {
  const { grab, rooms: roomTexts } = context.get("texts");
  const own = view.places.find(({ studentId }) => studentId === student.id) ?? view.places[0];
  const mates = members.filter(({ id }) => id !== student.id);
  const { outcome } = view;
  return (
    <article>
      <h2>{grab.room(namesOf(rooms)(own?.roomId ?? ""))}</h2>
      {outcome?.state === "done" && (
        <p>
          <small>{grab.since(outcome.atMs)}</small>
        </p>
      )}
      <p>{mates.length > 0 ? `${grab.with}: ${mates.map(({ name }) => name).join(", ")}` : grab.alone}</p>
      <p>
        <a href="/rooms">{roomTexts.title}</a>
      </p>
      <form method="post" action="/regret">
        <input type="hidden" name="requestId" value={requestId} />
        <button type="submit" data-danger>
          {grab.regret}
        </button>
      </form>
      <p>
        <small>{grab.regretHint}</small>
      </p>
    </article>
  );
}

function Choice({ context, batch, view, verdict, nowMs, requestId }: GrabProps) {
  const { grab, home } = context.get("texts");
  if (batch.state === "closed" || batch.state === "archived") return <p role="status">{grab.over}</p>;
  if (nowMs < verdict.startsAtMs)
    return (
      <article>
        <p>{grab.notYet(verdict.startsAtMs)}</p>
        <p>
          <a data-button href="/countdown">
            {home.toCountdown}
          </a>
        </p>
      </article>
    );
  return (
    <article>
      <p>{grab.lead}</p>
      <form method="post" action="/grab">
        <input type="hidden" name="requestId" value={requestId} />
        <button type="submit" data-big>
          {view.outcome ? grab.again : grab.button}
        </button>
      </form>
      <p>
        <a href="/rooms">{grab.byHand}</a>
      </p>
    </article>
  );
}
