/** The parts that the pages are made of: given once, by the program or by a test. */
import type { HttpBindings } from "@hono/node-server";
import type { Holdfast } from "holdfast";
import type { Context, MiddlewareHandler } from "hono";
import type { SecureHeadersVariables } from "hono/secure-headers";
import type { Dormitory } from "../domain/service.js";
import type { Student } from "../domain/student.js";
import type { Upkeep } from "../domain/upkeep.js";
import type { Assets } from "./assets.js";
import type { Clock } from "./clock.js";
import type { RoomBoard } from "./room-board.js";
import type { Rush } from "./rush.js";
import type { Schedule } from "./schedule.js";
import type { Streams } from "./streams.js";
import type { Language } from "./texts/formats.js";
import type { Texts } from "./texts/texts.js";

export interface Site {
  readonly dormitory: Dormitory;
  readonly upkeep: Upkeep;
  readonly hf: Holdfast;
  /** Signs the sessions: at least 32 characters, the same in all web servers. */
  readonly secret: string;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly schedule: Schedule;
  readonly rooms: RoomBoard;
  readonly rush: Rush;
  readonly streams: Streams;
  /** How many proxies of ours stand in front, so that their `X-Forwarded-For` is believed. */
  readonly trust: number | false;
  /** The origin that browsers see, where it is not that of the request; then cookies are for https only if it is https. */
  readonly publicUrl: string | null;
  readonly log: (line: string) => void;
}

export interface PageVariables extends SecureHeadersVariables {
  readonly site: Site;
  readonly language: Language;
  readonly texts: Texts;
  /** Who has signed in; null: nobody. */
  readonly student: Student | null;
}

export interface PageEnv {
  Bindings: Partial<HttpBindings>;
  Variables: PageVariables;
}

export type PageContext = Context<PageEnv>;
export type PageMiddleware = MiddlewareHandler<PageEnv>;
