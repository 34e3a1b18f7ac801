/** The ways of selling, in the order in which they run. */

export const VARIANT_NAMES = ["none", "mutex", "fenced", "script"] as const;

export type VariantName = (typeof VARIANT_NAMES)[number];

export interface Variant {
  readonly name: VariantName;
  readonly title: string;
  /** Sells under a lock, so that a server can be killed while it holds it. */
  readonly locked: boolean;
  /** Promises never to sell more than there is. */
  readonly guarded: boolean;
}

const VARIANTS: Readonly<Record<VariantName, Variant>> = {
  none: { name: "none", title: "no lock", locked: false, guarded: false },
  mutex: { name: "mutex", title: "mutex", locked: true, guarded: true },
  fenced: { name: "fenced", title: "fenced mutex", locked: true, guarded: true },
  script: { name: "script", title: "atomic script", locked: false, guarded: true },
};

export function variantOf(name: VariantName): Variant {
  return VARIANTS[name];
}

export function isVariantName(text: string): text is VariantName {
  return (VARIANT_NAMES as readonly string[]).includes(text);
}
