/** All rooms of the batch, to take one by hand. */
import type { RoomView } from "../../domain/room.js";
import { Notice, Page } from "../layout.js";
import { nameOf } from "../room-board.js";
import type { Said } from "../said.js";
import type { PageContext } from "../site.js";

export interface RoomsProps extends Partial<Said> {
  readonly context: PageContext;
  readonly rooms: readonly RoomView[];
  readonly wishes: readonly string[];
  readonly teamSize: number;
  /** Whether rooms can be taken now. */
  readonly isOpen: boolean;
  /** Rooms without enough free beds are shown as well. */
  readonly showsAll: boolean;
  readonly requestId: string;
}

export function RoomsPage(props: RoomsProps) {
  const { context, rooms, teamSize, showsAll, good, bad } = props;
  const { rooms: texts } = context.get("texts");
  const fitting = rooms.filter(({ free }) => free >= teamSize);
  return (
    <Page context={context} title={texts.title} path="/rooms">
      <h1>{texts.title}</h1>
      <Notice good={good} bad={bad} />
      <p>{texts.lead(teamSize)}</p>
      <nav aria-label={texts.show}>
        <span>{texts.show}:</span>
        <a href="/rooms" aria-current={showsAll ? undefined : "true"}>
          {`${texts.onlyFree} (${fitting.length})`}
        </a>
        <a href="/rooms?all=1" aria-current={showsAll ? "true" : undefined}>
          {`${texts.all} (${rooms.length})`}
        </a>
      </nav>
      {rooms.length === 0 && <p>{texts.none}</p>}
      <article>
        <Table {...props} rooms={showsAll ? rooms : fitting} />
      </article>
    </Page>
  );
}

function Table(props: RoomsProps) {
  const { context, rooms, wishes, teamSize, isOpen, requestId } = props;
  const { rooms: texts } = context.get("texts");
  return (
    <form method="post" action="/pick">
      <input type="hidden" name="requestId" value={requestId} />
      <table>
        <thead>
          <tr>
            <th scope="col">{texts.room}</th>
            <th scope="col" data-number>
              {texts.free}
            </th>
            <td />
          </tr>
        </thead>
        <tbody>
          {rooms.map((room) => (
            <tr>
              <td>
                {nameOf(room)}{" "}
                {wishes.includes(room.id) && <small>{texts.wished(wishes.indexOf(room.id) + 1)}</small>}
              </td>
              <td data-number>{`${room.free}/${room.beds}`}</td>
              <td data-number>
                <button
                  type="submit"
                  data-plain
                  name="room"
                  value={room.id}
                  aria-label={texts.takeRoom(nameOf(room))}
                  disabled={!isOpen || room.free < teamSize}
                >
                  {texts.take}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </form>
  );
}
