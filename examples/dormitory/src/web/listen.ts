/** Puts the application behind a port. */
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Holdfast } from "holdfast";
import type { Dormitory } from "../domain/service.js";
import type { Upkeep } from "../domain/upkeep.js";
import { makeApp } from "./app.js";
import { loadAssets } from "./assets.js";
import type { Clock } from "./clock.js";
import { RoomBoard } from "./room-board.js";
import { Rush } from "./rush.js";
import { Schedule } from "./schedule.js";
import type { Site } from "./site.js";
import { Streams } from "./streams.js";

export interface SiteOptions {
  readonly dormitory: Dormitory;
  readonly upkeep: Upkeep;
  readonly hf: Holdfast;
  /** Signs the sessions; the same in all web servers. */
  readonly secret: string;
  /** The address that browsers see, where a proxy stands in front. @default that of the request */
  readonly publicUrl?: string | undefined;
  /** Number of proxies in front whose `X-Forwarded-For` is believed. @default none */
  readonly trust?: number | undefined;
  /** @default that of this machine */
  readonly clock?: Clock | undefined;
  readonly log: (line: string) => void;
}

export interface WebServer {
  readonly port: number;
  /** Ends the event streams, then answers the requests under way, and closes. */
  stop(): Promise<void>;
}

/** Requests under way have this time to end. */
const LAST_MS = 500;

export function siteOf(options: SiteOptions): Site {
  const { dormitory, upkeep, hf, secret, publicUrl = null, trust = false, log } = options;
  const clock = options.clock ?? { nowMs: () => Date.now() };
  return {
    ...{ dormitory, upkeep, hf, secret, publicUrl, trust, log, clock },
    assets: loadAssets(),
    schedule: new Schedule(() => dormitory.batches.list()),
    rooms: new RoomBoard((batchId) => dormitory.rooms.of(batchId), clock),
    rush: new Rush(hf),
    streams: new Streams(),
  };
}

export async function startWebServer(options: SiteOptions & { readonly port: number }): Promise<WebServer> {
  const site = siteOf(options);
  await site.schedule.start();
  const server = createAdaptorServer({ fetch: makeApp(site).fetch });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    stop: async () => {
      site.schedule.stop();
      site.streams.endAll();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      const timer = setTimeout(() => {
        if ("closeAllConnections" in server) server.closeAllConnections();
      }, LAST_MS);
      await closed;
      clearTimeout(timer);
    },
  };
}
