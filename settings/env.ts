/** Environment variables, as `process.env` has them. */
export type Env = Readonly<Record<string, string | undefined>>;
