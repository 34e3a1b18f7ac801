/** The part of linkedom that the pictures use; its own declarations (0.18.12) need the browser's types. */

export function parseHTML(html: string): { readonly document: unknown };
