/** A batch as an administrator sees it: live figures, contested rooms, its terms, rooms and students, the archive. */
import type { Batch, BatchFigures, ContestedRoom } from "../../domain/batch.js";
import type { RoomView } from "../../domain/room.js";
import { figuresOf } from "../figures.js";
import { Notice, Page } from "../layout.js";
import { nameOf } from "../room-board.js";
import type { Said } from "../said.js";
import type { PageContext } from "../site.js";
import { Terms } from "./admin.js";
import { ImportPanel } from "./imports.js";

export interface BatchProps extends Partial<Said> {
  readonly context: PageContext;
  readonly batch: Batch;
  readonly figures: BatchFigures;
  readonly contested: readonly ContestedRoom[];
  readonly rooms: readonly RoomView[];
}

export function BatchPage(props: BatchProps) {
  const { context, batch, good, bad } = props;
  const { admin } = context.get("texts");
  const base = `/admin/batches/${encodeURIComponent(batch.id)}`;
  return (
    <Page context={context} title={batch.name} path={base} script="live">
      <p>
        <a href="/admin">{admin.back}</a>
      </p>
      <h1>
        {batch.name} <small>{admin.states[batch.state]}</small>
      </h1>
      <Notice good={good} bad={bad} />
      <Live {...props} base={base} />
      <div data-side>
        <div>
          <Edit {...props} base={base} />
          <People {...props} base={base} />
        </div>
        <div>
          <Contested {...props} />
          <article>
            <h2>{admin.archive}</h2>
            <p>
              <small>{admin.archiveLead}</small>
            </p>
            <form method="post" action={`${base}/archive`}>
              <button type="submit" data-plain>
                {admin.archiveButton}
              </button>
            </form>
          </article>
          <ImportPanel context={context} base={base} />
        </div>
      </div>
    </Page>
  );
}

function Live({ context, figures, base }: BatchProps & { base: string }) {
  const { admin } = context.get("texts");
  const shown = Object.entries(figuresOf(figures, context.get("texts")));
  const labels: Readonly<Record<string, string>> = {
    students: admin.students,
    queue: admin.queue,
    taken: admin.taken,
    decided: admin.decided,
    rate: admin.rate,
  };
  return (
    <article data-live={`${base}/figures`} data-current={admin.current} data-broken={admin.broken}>
      <h2>{admin.live}</h2>
      <dl>
        {shown.map(([name, text]) => (
          <div>
            <dt>{labels[name]}</dt>
            <dd data-figure-of={name}>{text}</dd>
          </div>
        ))}
      </dl>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={admin.rateLine}>
        <polyline points="" />
      </svg>
      <p role="status" />
    </article>
  );
}

function Edit({ context, batch, base }: BatchProps & { base: string }) {
  const { admin } = context.get("texts");
  return (
    <article>
      <h2>{admin.edit}</h2>
      <p>
        <small>{admin.editHint}</small>
      </p>
      <form method="post" action={base}>
        <Terms context={context} terms={batch} />
        <p>
          <button type="submit" disabled={batch.state === "archived"}>
            {admin.save}
          </button>
        </p>
      </form>
    </article>
  );
}

function People({ context, batch, rooms, base }: BatchProps & { base: string }) {
  const { admin, rooms: texts } = context.get("texts");
  return (
    <article>
      <h2>{admin.membership}</h2>
      <form method="post" action={`${base}/members`}>
        <Lines name="addStudents" label={admin.addStudents} hint={admin.numbersHint} />
        <Lines name="removeStudents" label={admin.removeStudents} hint={admin.removeHint} />
        <Lines name="addRooms" label={admin.addRooms} hint={admin.roomsHint} />
        <details>
          <summary>{`${admin.removeRooms} (${rooms.length})`}</summary>
          <fieldset>
            {rooms.map((room) => (
              <label>
                <input type="checkbox" name="removeRooms" value={room.id} disabled={room.free < room.beds} />
                <span>
                  {nameOf(room)} <small>{`${texts.free}: ${room.free}/${room.beds}`}</small>
                </span>
              </label>
            ))}
          </fieldset>
        </details>
        <p>
          <button type="submit" disabled={batch.state === "archived"}>
            {admin.save}
          </button>
        </p>
      </form>
    </article>
  );
}

function Lines({ name, label, hint }: { name: string; label: string; hint: string }) {
  return (
    <>
      <label for={name}>{label}</label>
      <textarea id={name} name={name} rows={2} aria-describedby={`${name}-hint`} />
      <small id={`${name}-hint`}>{hint}</small>
    </>
  );
}

function Contested({ context, contested }: BatchProps) {
  const { admin, rooms } = context.get("texts");
  return (
    <article>
      <h2>{admin.contested}</h2>
      <p>
        <small>{admin.contestedLead}</small>
      </p>
      {contested.length === 0 ? (
        <p>{admin.noContested}</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">{rooms.room}</th>
              <th scope="col" data-number>
                {admin.turnedAway}
              </th>
              <th scope="col" data-number>
                {rooms.free}
              </th>
            </tr>
          </thead>
          <tbody>
            {contested.map(({ name, turnedAway, free, beds }) => (
              <tr>
                <td>{name}</td>
                <td data-number>{turnedAway}</td>
                <td data-number>{`${free}/${beds}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </article>
  );
}
