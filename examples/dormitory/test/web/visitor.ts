/** A browser without scripts: keeps cookies, sends forms from pages of the same site, and does not follow redirects. */
import type { Hono } from "hono";
import type { PageEnv } from "../../src/web/site.js";

const HOST = "dormitory.test";

export interface Answer {
  readonly status: number;
  readonly location: string | null;
  readonly headers: Headers;
  readonly text: string;
}

export type Fields = Readonly<Record<string, string | readonly string[]>>;

export class Visitor {
  readonly cookies = new Map<string, string>();
  readonly #app: Pick<Hono<PageEnv>, "request">;
  readonly #fields: Readonly<Record<string, string>>;

  constructor(app: Pick<Hono<PageEnv>, "request">, fields: Readonly<Record<string, string>> = {}) {
    this.#app = app;
    this.#fields = fields;
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send(path, { headers: { accept: "text/html", ...headers } });
  }

  json(path: string): Promise<Answer> {
    return this.send(path, { headers: { accept: "application/json" } });
  }

  post(path: string, fields: Fields = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(fields))
      for (const each of typeof value === "string" ? [value] : value) body.append(name, each);
    const own = { accept: "text/html", origin: `http://${HOST}`, "sec-fetch-site": "same-origin" };
    const type = { "content-type": "application/x-www-form-urlencoded" };
    return this.send(path, {
      method: "POST",
      body: body.toString(),
      headers: { ...own, ...type, ...headers },
    });
  }

  async signIn(number: string, password = `password of ${number}`): Promise<Answer> {
    return this.post("/login", { number, password });
  }

  async send(
    path: string,
    init: RequestInit & { headers: Readonly<Record<string, string>> },
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { host: HOST, cookie, ...this.#fields, ...init.headers };
    const response = await this.#app.request(`http://${HOST}${path}`, { ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const { status } = response;
    return {
      status,
      location: response.headers.get("location"),
      headers: response.headers,
      text: await response.text(),
    };
  }
}

/** The value of a hidden field, as a browser would send it. */
export function fieldOf({ text }: Answer, name: string): string {
  const value = new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1];
  if (value === undefined) throw new Error(`no field ${name} in ${text.slice(0, 200)}`);
  return value;
}
