/** The rows of a table of a pipeline; its JSON has all. */
export const MOST_ROWS = 20;
