/** A change of the wishes came too late: what the others did meanwhile, and the own change for another try. */
import type { RoomView } from "../../domain/room.js";
import type { Wishes } from "../../domain/team.js";
import { namesOf } from "../room-board.js";
import type { PageContext } from "../site.js";
import { differenceOf, type WishChange } from "../wish-change.js";
import { Seen } from "./wish-list.js";

export interface ConflictProps {
  readonly context: PageContext;
  readonly current: Wishes;
  readonly rooms: readonly RoomView[];
  /** The list on which the own change was made. */
  readonly seen: readonly string[];
  readonly change: WishChange;
}

export function Conflict({ context, current, rooms, seen, change }: ConflictProps) {
  const { conflict } = context.get("texts");
  const name = namesOf(rooms);
  const { added, removed, moved } = differenceOf(seen, current.roomIds);
  const lines = [
    ...added.map((id) => conflict.added(name(id))),
    ...removed.map((id) => conflict.removed(name(id))),
    ...(moved ? [conflict.moved] : []),
  ];
  const lead =
    current.by && current.atMs !== null ? conflict.lead(current.by.name, current.atMs) : conflict.leadUnknown;
  return (
    <section role="alert">
      <h2>{conflict.title}</h2>
      <p>{lead}</p>
      <h3>{conflict.theirs}</h3>
      <ul>
        {(lines.length > 0 ? lines : [conflict.nothing]).map((line) => (
          <li>{line}</li>
        ))}
      </ul>
      <h3>{conflict.yours}</h3>
      <OwnChange context={context} change={change} name={name} />
      <form method="post" action="/me/wishes">
        <Seen wishes={current} />
        <Again change={change} />
        <p data-row>
          <button type="submit" name="change" value={wordOf(change)}>
            {conflict.retry}
          </button>
          <a href="/me">{conflict.discard}</a>
        </p>
      </form>
    </section>
  );
}

function OwnChange(props: { context: PageContext; change: WishChange; name: (id: string) => string }) {
  const { context, change, name } = props;
  const { conflict } = context.get("texts");
  if (change.kind !== "set") return <p>{conflict[change.kind](name(change.roomId))}</p>;
  return (
    <>
      <p>{conflict.set}</p>
      <ol>
        {change.roomIds.map((id) => (
          <li>{name(id)}</li>
        ))}
      </ol>
    </>
  );
}

function Again({ change }: { change: WishChange }) {
  if (change.kind !== "set") return null;
  return (
    <>
      {change.roomIds.map((id) => (
        <input type="hidden" name="wishes" value={id} />
      ))}
    </>
  );
}

function wordOf(change: WishChange): string {
  return change.kind === "set" ? "set" : `${change.kind}:${change.roomId}`;
}
