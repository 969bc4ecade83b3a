/**
 * The defaults for fields that a pipeline file leaves out (docs/design/deploy.md#plan). They are separate from the
 * schemas of files, which workflows cannot import.
 */

/** The pace of a phase; times in ms. */
export const DEFAULT_PACE = {
  bake: 600_000,
  success: { all: true as const },
  updateTimeout: 7_200_000,
  pre: [],
  post: [],
};

/** Without phases in the file: 1%, 10%, then all. */
export const DEFAULT_AMOUNTS = [{ percent: 1 }, { percent: 10 }] as const;
