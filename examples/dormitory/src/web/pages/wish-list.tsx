/** The wishes of a team, in order, with a button for each change: no script is needed. */
import type { RoomView } from "../../domain/room.js";
import { MOST_WISHES, type Wishes } from "../../domain/team.js";
import { nameOf, namesOf } from "../room-board.js";
import type { PageContext } from "../site.js";

interface WishListProps {
  readonly context: PageContext;
  readonly wishes: Wishes;
  readonly rooms: readonly RoomView[];
  readonly isFrozen: boolean;
}

export function WishList({ context, wishes, rooms, isFrozen }: WishListProps) {
  const { home } = context.get("texts");
  return (
    <article>
      <h2>{home.wishes}</h2>
      <p>
        <small>{isFrozen ? home.frozen : home.wishesLead}</small>
      </p>
      {wishes.roomIds.length === 0 && <p>{home.noWishes}</p>}
      <form method="post" action="/me/wishes">
        <Seen wishes={wishes} />
        <ol data-rows>
          {wishes.roomIds.map((roomId, at) => (
            <Wish context={context} roomId={roomId} at={at} {...{ wishes, rooms, isFrozen }} />
          ))}
        </ol>
      </form>
      {!isFrozen && wishes.roomIds.length < MOST_WISHES && (
        <AddWish context={context} wishes={wishes} rooms={rooms} />
      )}
      {wishes.by && wishes.atMs !== null && (
        <p>
          <small>{home.changedBy(wishes.by.name, wishes.atMs)}</small>
        </p>
      )}
    </article>
  );
}

function Wish(props: WishListProps & { roomId: string; at: number }) {
  const { context, wishes, rooms, isFrozen, roomId, at } = props;
  const { home } = context.get("texts");
  const name = namesOf(rooms)(roomId);
  const last = wishes.roomIds.length - 1;
  return (
    <li>
      <div data-row>
        <span>{name}</span>
        {!isFrozen && (
          <>
            <Step word={`up:${roomId}`} label={home.up(name)} sign="↑" isDisabled={at === 0} />
            <Step word={`down:${roomId}`} label={home.down(name)} sign="↓" isDisabled={at === last} />
            <Step word={`remove:${roomId}`} label={home.remove(name)} sign="✕" />
          </>
        )}
      </div>
    </li>
  );
}

function Step(props: { word: string; label: string; sign: string; isDisabled?: boolean }) {
  const { word, label, sign, isDisabled = false } = props;
  return (
    <button
      type="submit"
      data-plain
      name="change"
      value={word}
      aria-label={label}
      title={label}
      disabled={isDisabled}
    >
      {sign}
    </button>
  );
}

function AddWish({ context, wishes, rooms }: Omit<WishListProps, "isFrozen">) {
  const { home } = context.get("texts");
  const left = rooms.filter(({ id }) => !wishes.roomIds.includes(id));
  const buildings = [...new Set(left.map(({ building }) => building))];
  if (left.length === 0) return null;
  return (
    <form method="post" action="/me/wishes">
      <Seen wishes={wishes} />
      <label for="room">{home.add}</label>
      <div data-row>
        <select id="room" name="room">
          {buildings.map((building) => (
            <optgroup label={building}>
              {left
                .filter((room) => room.building === building)
                .map((room) => (
                  <option value={room.id}>{`${nameOf(room)} (${room.free}/${room.beds})`}</option>
                ))}
            </optgroup>
          ))}
        </select>
        <button type="submit" name="change" value="add">
          {home.addButton}
        </button>
      </div>
    </form>
  );
}

/** The version and the list that the change was made on. */
export function Seen({ wishes }: { wishes: Wishes }) {
  return (
    <>
      <input type="hidden" name="version" value={wishes.version} />
      {wishes.roomIds.map((roomId) => (
        <input type="hidden" name="seen" value={roomId} />
      ))}
    </>
  );
}
