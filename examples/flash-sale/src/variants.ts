/** The ways of selling, in the order in which they run. */
import { NPM_REDLOCK_REMARK } from "./store/npm-redlock-settings.js";

export const VARIANT_NAMES = ["none", "mutex", "fenced", "script", "redlock", "npm-redlock"] as const;

export type VariantName = (typeof VARIANT_NAMES)[number];

export interface Variant {
  readonly name: VariantName;
  readonly title: string;
  /** Sells under a lock, so that a server can be killed while it holds it. */
  readonly locked: boolean;
  /** Promises never to sell more than there is. */
  readonly guarded: boolean;
  /** A note below the table about how this variant was set up. */
  readonly remark?: string;
}

const VARIANTS: Readonly<Record<VariantName, Variant>> = {
  none: { name: "none", title: "no lock", locked: false, guarded: false },
  mutex: { name: "mutex", title: "mutex", locked: true, guarded: true },
  fenced: { name: "fenced", title: "fenced mutex", locked: true, guarded: true },
  script: { name: "script", title: "atomic script", locked: false, guarded: true },
  redlock: { name: "redlock", title: "Redlock", locked: true, guarded: true },
  "npm-redlock": {
    name: "npm-redlock",
    title: "npm redlock",
    locked: true,
    guarded: true,
    remark: NPM_REDLOCK_REMARK,
  },
};

/** The variants of a sale on one server. */
const ON_ONE_SERVER: readonly VariantName[] = ["none", "mutex", "fenced", "script"];
/** The variants of a sale whose locks are on several servers. */
const OVER_SEVERAL_SERVERS: readonly VariantName[] = ["none", "redlock", "npm-redlock"];

export function variantOf(name: VariantName): Variant {
  return VARIANTS[name];
}

/** @param redlock the locks are on several servers. */
export function variantsFor(redlock: boolean): readonly VariantName[] {
  return redlock ? OVER_SEVERAL_SERVERS : ON_ONE_SERVER;
}

export function isVariantName(text: string): text is VariantName {
  return (VARIANT_NAMES as readonly string[]).includes(text);
}
