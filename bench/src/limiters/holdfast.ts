import { Holdfast } from "holdfast";
import { connect } from "../contestants/client.js";
import type { Check, CheckTerms, Limiter } from "./limiter.js";

const BLOCK = 100;

export const open = (port: number): Promise<Limiter> => openWith(port, (hf, terms) => single(hf, terms));

export const openGcra = (port: number): Promise<Limiter> =>
  openWith(port, (hf, terms) => single(hf, terms, { type: "gcra" }));

/** What one process takes ahead, and deals out by itself. */
export const openBlock = (port: number): Promise<Limiter> =>
  openWith(port, (hf, terms) => single(hf, terms, { block: BLOCK }));

/** Three limits in one check, all or none. */
export const openGroup = (port: number): Promise<Limiter> =>
  openWith(port, (hf, terms) => {
    const limits = three(hf, terms);
    return async (target) => (await hf.limits.all(limits.map((limit) => limit.of(target))).take()).ok;
  });

/** The same three, asked one after another. */
export const openSingles = (port: number): Promise<Limiter> =>
  openWith(port, (hf, terms) => {
    const limits = three(hf, terms);
    return async (target) => {
      for (const limit of limits) if (!(await limit.take(target)).ok) return false;
      return true;
    };
  });

function single(
  hf: Holdfast,
  { max, perMs }: CheckTerms,
  more: { readonly type?: "gcra"; readonly block?: number } = {},
): Check {
  const limit = hf.limit("bench", { max, per: perMs, ...more });
  return async (target) => (await limit.take(target)).ok;
}

function three(hf: Holdfast, { max, perMs }: CheckTerms) {
  return ["one", "two", "three"].map((name) => hf.limit(name, { max, per: perMs }));
}

async function openWith(port: number, check: (hf: Holdfast, terms: CheckTerms) => Check): Promise<Limiter> {
  const client = await connect(port);
  const hf = new Holdfast(client);
  return {
    check: (terms) => check(hf, terms),
    async close() {
      await hf.close();
      client.disconnect();
    },
  };
}
