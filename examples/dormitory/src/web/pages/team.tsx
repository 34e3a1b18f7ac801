/** The team of a student, and its invitations. */
import type { Student } from "../../domain/student.js";
import { LARGEST_TEAM, type TeamView } from "../../domain/team.js";
import type { PageContext } from "../site.js";

interface TeamProps {
  readonly context: PageContext;
  readonly student: Student;
  readonly team: TeamView;
  readonly isFrozen: boolean;
}

export function TeamPanel(props: TeamProps) {
  const { context, student, team, isFrozen } = props;
  const texts = context.get("texts").team;
  const isAlone = team.members.length === 1;
  return (
    <article>
      <h2>{texts.title}</h2>
      <p>
        <small>{isAlone ? texts.alone : texts.members(team.members.length)}</small>{" "}
        <small>{texts.lead}</small>
      </p>
      <ul data-rows>
        {team.members.map(({ id, name }) => (
          <li>
            {name} <small>{id === student.id ? `${id}, ${texts.you}` : id}</small>
          </li>
        ))}
      </ul>
      {!isAlone && !isFrozen && (
        <form method="post" action="/team/leave">
          <button type="submit" data-danger>
            {texts.leave}
          </button>
        </form>
      )}
      <Received {...props} />
      <Sent {...props} />
      {!isFrozen && team.members.length < LARGEST_TEAM && <Invite context={context} />}
    </article>
  );
}

function Received({ context, team }: TeamProps) {
  const texts = context.get("texts").team;
  if (team.received.length === 0) return null;
  return (
    <section>
      <h3>{texts.received}</h3>
      <p>
        <small>{texts.acceptHint}</small>
      </p>
      <ul data-rows>
        {team.received.map(({ id, from, atMs }) => (
          <li>
            <div data-row>
              <span>{texts.from(from.name, atMs)}</span>
              <Answer id={id} action="/team/accept" text={texts.accept} />
              <Answer id={id} action="/team/refuse" text={texts.refuse} isPlain />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Sent({ context, team }: TeamProps) {
  const texts = context.get("texts").team;
  if (team.sent.length === 0) return null;
  return (
    <section>
      <h3>{texts.sent}</h3>
      <ul data-rows>
        {team.sent.map(({ id, to }) => (
          <li>
            <div data-row>
              <span>{texts.waiting(to.name)}</span>
              <Answer id={id} action="/team/refuse" text={texts.withdraw} isPlain />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Answer(props: { id: string; action: string; text: string; isPlain?: boolean }) {
  const { id, action, text, isPlain = false } = props;
  return (
    <form method="post" action={action}>
      <input type="hidden" name="invitation" value={id} />
      <button type="submit" data-plain={isPlain ? "" : undefined}>
        {text}
      </button>
    </form>
  );
}

function Invite({ context }: { context: PageContext }) {
  const texts = context.get("texts").team;
  return (
    <form method="post" action="/team/invite">
      <label for="invited">{texts.invite}</label>
      <div data-row>
        <input id="invited" name="number" required maxlength={32} autocomplete="off" />
        <button type="submit">{texts.inviteButton}</button>
      </div>
    </form>
  );
}
