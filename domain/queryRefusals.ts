/**
 * What a refused query reveals about its workflow. Temporal's client has one error for all: for a worker that cannot
 * replay the history, a handler that threw, and a workflow without such a query; only the words of the SDK tell them
 * apart. All but the last may be answered later.
 */

/** Whether the workflow has no such query: it is of an older version, or its code never ran. */
export const hasNoSuchQuery = (error: unknown): boolean => /did not register a handler for /.test(refusalIn(error));

/**
 * Whether the code of the workflow never ran, so that it has the queries of the SDK alone. Conveyor did not start such a run, which ends before its code
 * begins (`workflows/provenance.ts`).
 */
export const neverRan = (error: unknown): boolean =>
  /did not register a handler for \S+\. Registered queries: \[(?:__\w+ ?)*\]$/.test(refusalIn(error));

const refusalIn = (error: unknown): string =>
  error instanceof Error && error.name === 'QueryNotRegisteredError' ? error.message : '';
