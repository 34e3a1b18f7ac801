/** The page of a student: batch, wishes, team and invitations. */
import type { Batch } from "../../domain/batch.js";
import type { RoomView } from "../../domain/room.js";
import type { TicketView } from "../../domain/selection.js";
import type { Student } from "../../domain/student.js";
import type { TeamView } from "../../domain/team.js";
import { Notice, Page } from "../layout.js";
import { namesOf } from "../room-board.js";
import type { PageContext } from "../site.js";
import { Conflict, type ConflictProps } from "./conflict.js";
import { TeamPanel } from "./team.js";
import { WishList } from "./wish-list.js";

export interface HomeProps {
  readonly context: PageContext;
  readonly student: Student;
  readonly batch: Batch | null;
  readonly team: TeamView | null;
  readonly rooms: readonly RoomView[];
  readonly ticket: TicketView | null;
  readonly conflict?: Pick<ConflictProps, "seen" | "change"> | undefined;
  readonly good?: string | undefined;
  readonly bad?: string | undefined;
}

export function HomePage(props: HomeProps) {
  const { context, student, batch, team, rooms, conflict, good, bad } = props;
  const { home } = context.get("texts");
  const isOver = batch?.state === "closed" || batch?.state === "archived";
  return (
    <Page context={context} title={home.title} path="/me">
      <h1>{student.name}</h1>
      <Notice good={good} bad={bad} />
      {team && conflict && <Conflict context={context} current={team.wishes} rooms={rooms} {...conflict} />}
      <BatchPanel {...props} />
      {team && (
        <div data-side>
          <WishList context={context} wishes={team.wishes} rooms={rooms} isFrozen={isOver} />
          <TeamPanel context={context} student={student} team={team} isFrozen={isOver} />
        </div>
      )}
    </Page>
  );
}

function BatchPanel({ context, student, batch, rooms, ticket }: HomeProps) {
  const { home, moment } = context.get("texts");
  if (!batch)
    return (
      <article>
        <p>{home.noBatch}</p>
      </article>
    );
  const place = ticket?.places.find(({ studentId }) => studentId === student.id);
  return (
    <article>
      <dl>
        <div>
          <dt>{home.batch}</dt>
          <dd>{batch.name}</dd>
        </div>
        <div>
          <dt>{home.start}</dt>
          <dd>
            <time datetime={new Date(batch.startsAtMs).toISOString()}>{moment(batch.startsAtMs)}</time>
          </dd>
        </div>
        <div>
          <dt>{home.end}</dt>
          <dd>
            <time datetime={new Date(batch.endsAtMs).toISOString()}>{moment(batch.endsAtMs)}</time>
          </dd>
        </div>
        {place && (
          <div>
            <dt>{home.result}</dt>
            <dd>{namesOf(rooms)(place.roomId)}</dd>
          </div>
        )}
      </dl>
      {batch.state === "planned" && (
        <p>
          <a data-button href="/countdown">
            {home.toCountdown}
          </a>
        </p>
      )}
      {batch.state === "open" && (
        <p>
          <a data-button href="/grab">
            {home.toGrab}
          </a>
        </p>
      )}
    </article>
  );
}
