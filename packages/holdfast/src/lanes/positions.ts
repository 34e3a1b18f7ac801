/** Positions: the places that callers ask for. Those of one turn of the event loop are read by one script call. */
import { Batcher } from "../time/batcher.js";
import type { Clock } from "../time/clock.js";
import { type Place, type PlaceFacts, toPlace } from "./place.js";
import type { Ticket } from "./ticket.js";

interface Asked {
  readonly ticket: Ticket;
  readonly resolve: (place: Place) => void;
  readonly reject: (error: unknown) => void;
}

/** As in a watch. */
const CHUNK = 250;

export class Positions {
  readonly #places: (tickets: readonly Ticket[]) => Promise<readonly PlaceFacts[]>;
  readonly #clock: Clock;
  readonly #batcher = new Batcher<Asked>(CHUNK, (asked) => void this.#send(asked));

  constructor(places: (tickets: readonly Ticket[]) => Promise<readonly PlaceFacts[]>, clock: Clock) {
    this.#places = places;
    this.#clock = clock;
  }

  /** @throws {ServerError} @throws {IndeterminateError} */
  read(ticket: Ticket): Promise<Place> {
    return new Promise((resolve, reject) => this.#batcher.add({ ticket, resolve, reject }));
  }

  async #send(asked: readonly Asked[]): Promise<void> {
    const { wallMs } = this.#clock.now();
    try {
      const places = await this.#places(asked.map(({ ticket }) => ticket));
      for (const [at, { resolve }] of asked.entries()) resolve(toPlace(places[at] as PlaceFacts, wallMs));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
