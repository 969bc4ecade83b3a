/** Exit codes (docs/reference/cli.md#exit-codes). */
export const EXIT = { ok: 0, error: 1, usage: 2, notSucceeded: 3, notFound: 4, timeout: 5, interrupted: 130 } as const;
