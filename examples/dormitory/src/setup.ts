/** What the first process gives the programs that it starts: web servers and workers. */

export interface Setup {
  readonly redisUrl: string;
  readonly postgresUrl: string;
  /** Starts every key in Redis. */
  readonly prefix: string;
  /** Signs the cookies. */
  readonly secret: string;
  /** 0: a free one. All web servers share it. */
  readonly port: number;
  /** Believe X-Forwarded-For, as from a balancer in front. */
  readonly trustProxy: boolean;
  /** The address that browsers see. Null: that of the request. */
  readonly publicUrl: string | null;
}

/** The part of it that the pages go by. */
export function proxyOf({ trustProxy, publicUrl }: Pick<Setup, "trustProxy" | "publicUrl">): {
  readonly trust?: number;
  readonly publicUrl?: string;
} {
  return { ...(trustProxy ? { trust: 1 } : {}), ...(publicUrl === null ? {} : { publicUrl }) };
}

const VARIABLE = "DORMITORY_SETUP";

export function setupEnvironment(setup: Setup): Record<string, string> {
  return { [VARIABLE]: JSON.stringify(setup) };
}

/** @throws {Error} the program was started by hand */
export function readSetup(): Setup {
  const text = process.env[VARIABLE];
  if (text === undefined) throw new Error("this program is started by main.js");
  return JSON.parse(text) as Setup;
}

/** From the first process to a program. */
export type ToProgram = { readonly type: "stop" };

/** From a program to the first process. */
export type FromProgram =
  | { readonly type: "ready"; readonly port: number | null }
  | { readonly type: "failed"; readonly message: string };
