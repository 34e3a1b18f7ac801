/** Options of a Holdfast in a test that is not about silence: a busy machine must not make such a test fail. */
export const UNHURRIED = { callTimeout: "30s" } as const;
