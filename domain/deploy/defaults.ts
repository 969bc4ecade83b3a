/**
 * What a deploy does where its file says nothing (docs/design/deploy.md#plan). Apart from the schemas of files,
 * which workflows cannot have.
 */

/** How a phase is paced; times in ms. */
export const DEFAULT_PACE = {
  bake: 600_000,
  success: { all: true as const },
  updateTimeout: 7_200_000,
  pre: [],
  post: [],
};

/** No phases written: 1 %, 10 %, then all. */
export const DEFAULT_AMOUNTS = [{ percent: 1 }, { percent: 10 }] as const;
