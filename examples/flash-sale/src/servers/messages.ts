/** What the first process and its web servers say to each other. */
import type { VariantName } from "../variants.js";

/** Given to a web server at its start, as JSON in the environment. */
export interface ServerSetup {
  readonly redisUrl: string;
  /** The servers of the locks, if these are not on the server of the stock. */
  readonly lockUrls: readonly string[];
  readonly variant: VariantName;
  readonly prefix: string;
  readonly ttlMs: number;
  /** 0: one port that all servers share, or a free one if they listen apart. */
  readonly port: number;
  /** Listen on a port of its own, for a balancer in front. */
  readonly apart: boolean;
  /** The sale that is on when a replacement starts: open it before the first buyer can come. */
  readonly saleOn: string | null;
}

export const SETUP_VARIABLE = "FLASH_SALE_SERVER";

export type ToServer =
  | {
      readonly type: "open";
      readonly stockName: string;
      /** Announce it, and wait to be killed, once this many pieces or fewer are left and the lock is held. */
      readonly dieAtLeft: number | null;
    }
  | { readonly type: "close" }
  | { readonly type: "stop" };

export type FromServer =
  | { readonly type: "listening"; readonly port: number }
  | { readonly type: "opened" }
  | { readonly type: "holding" }
  | { readonly type: "closed"; readonly tally: Tally }
  | { readonly type: "failed"; readonly message: string };

/** What one web server did in one sale. */
export interface Tally {
  readonly pid: number;
  readonly sold: number;
  /** Writes that the ledger refused because a later holder had been there. */
  readonly staleRefusals: number;
  /** The first error of each kind, to be shown. */
  readonly failures: readonly string[];
  readonly samples: readonly StockSample[];
}

export interface StockSample {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly left: number;
}

/** The body of an answer to a buyer. */
export interface SaleAnswer {
  readonly host: string;
  readonly pid: number;
  readonly sold: boolean;
  readonly left: number;
}
