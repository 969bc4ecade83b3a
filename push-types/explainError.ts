/** The message of an error. */
export const explainError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
